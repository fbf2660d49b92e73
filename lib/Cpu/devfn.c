/* devfn.c: the table of device functions. */
#include "devfn.h"

#include "devfn_private.h"

#include <stdio.h>
#include <string.h>

static const struct pacc_devfn functions[] = {
#define PACC_DEV(result, name, params, type, flags)                            \
  {"pacc_dev_" #name, (void *)pacc_dev_##name, type, flags},
#include "devfn.def"
};

enum { N_FUNCTIONS = sizeof(functions) / sizeof(functions[0]) };

static const struct pacc_devfn cuda_functions[] = {
#define PACC_CUDA(result, name, params, type)                                  \
  {"pacc_dev_" #name, NULL, type, 0},
#include "cudafn.def"
};

enum { N_CUDA_FUNCTIONS = sizeof(cuda_functions) / sizeof(cuda_functions[0]) };

static const struct pacc_devfn *find(const struct pacc_devfn *table, size_t n,
                                     const char *name) {
  for (size_t i = 0; i < n; i++)
    if (strcmp(table[i].name, name) == 0)
      return &table[i];
  return NULL;
}

const struct pacc_devfn *pacc_devfn_find(const char *name) {
  const struct pacc_devfn *devfn = find(functions, N_FUNCTIONS, name);
  return devfn ? devfn : find(cuda_functions, N_CUDA_FUNCTIONS, name);
}

const struct pacc_devfn *pacc_cudafn_find(const char *name) {
  enum { UNDERSCORES = 2 };
  char devfn[128];
  if (!strncmp(name, "__", UNDERSCORES))
    name += UNDERSCORES;
  snprintf(devfn, sizeof(devfn), "pacc_dev_%s", name);
  return find(cuda_functions, N_CUDA_FUNCTIONS, devfn);
}

const struct pacc_devfn *pacc_devfn_table(size_t *n) {
  *n = N_FUNCTIONS;
  return functions;
}

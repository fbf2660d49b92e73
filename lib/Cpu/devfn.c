/* devfn.c: the table of device functions. */
#include "devfn.h"

#include "devfn_private.h"

#include <string.h>

static const struct pacc_devfn functions[] = {
#define PACC_DEV(result, name, params, type, flags)                            \
  {"pacc_dev_" #name, (void *)pacc_dev_##name, type, flags},
#include "devfn.def"
};

enum { N_FUNCTIONS = sizeof(functions) / sizeof(functions[0]) };

const struct pacc_devfn *pacc_devfn_find(const char *name) {
  for (size_t i = 0; i < N_FUNCTIONS; i++)
    if (strcmp(functions[i].name, name) == 0)
      return &functions[i];
  return NULL;
}

const struct pacc_devfn *pacc_devfn_table(size_t *n) {
  *n = N_FUNCTIONS;
  return functions;
}

/* gpu.c: the table of GPU architectures and how one is found by name. */
#include "pacc/model.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define KB 1024

static const struct pacc_gpu gpus[] = {
#include "gpu_table.def"
};

const struct pacc_gpu *pacc_gpu_at(size_t index) {
  return index < sizeof gpus / sizeof *gpus ? &gpus[index] : NULL;
}

static const struct pacc_gpu *find_cc(unsigned long cc) {
  for (size_t i = 0; pacc_gpu_at(i); i++)
    if (gpus[i].cc == cc)
      return &gpus[i];
  return NULL;
}

/* "90", with one letter of a feature set ("90a", "100f") if suffix is set. */
static const struct pacc_gpu *find_digits(const char *text) {
  if (!isdigit((unsigned char)*text))
    return NULL;
  char *end;
  unsigned long cc = strtoul(text, &end, 10);
  if (*end == 'a' || *end == 'f')
    end++;
  return *end ? NULL : find_cc(cc);
}

const struct pacc_gpu *pacc_gpu_find(const char *arch) {
  static const char *const prefixes[] = {"sm_", "compute_"};
  if (!arch)
    return NULL;
  for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
    size_t n = strlen(prefixes[i]);
    if (strncmp(arch, prefixes[i], n) == 0)
      return find_digits(arch + n);
  }
  const char *dot = strchr(arch, '.');
  if (!dot || !isdigit((unsigned char)*arch) ||
      !isdigit((unsigned char)dot[1]) || dot[2])
    return NULL;
  char *end;
  unsigned long major = strtoul(arch, &end, 10);
  if (end != dot || major > 99)
    return NULL;
  return find_cc(major * 10 + (unsigned long)(dot[1] - '0'));
}

const char *pacc_model_message(enum pacc_model_status status) {
  switch (status) {
  case PACC_MODEL_OK:
    return "success";
  case PACC_MODEL_INVALID:
    return "an argument is out of its range";
  case PACC_MODEL_NO_FIT:
    return "no block of any size fits on a multiprocessor: use fewer registers "
           "or less shared memory";
  case PACC_MODEL_NOMEM:
    return "out of memory";
  case PACC_MODEL_NO_PTXAS:
    return "ptxas was not found: set PACC_PTXAS or CUDA_HOME, or add it to "
           "PATH";
  case PACC_MODEL_PTXAS:
    return "ptxas refused the PTX";
  case PACC_MODEL_TIMEOUT:
    return "ptxas took too long and was stopped";
  case PACC_MODEL_NO_TEMP:
    return "no temporary file can be written: set TMPDIR to a writable folder";
  }
  return "unknown status";
}

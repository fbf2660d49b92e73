/* ptxas_parse.c: what ptxas -v writes, as numbers per kernel. */
#include "pacc/model.h"

#include <stdlib.h>
#include <string.h>

static const char ENTRY[] = "Compiling entry function '";
static const char PROPERTIES[] = "Function properties for ";

struct line {
  const char *text;
  size_t size;
};

/* Where `what` starts in a line, or NULL. */
static const char *find(struct line line, const char *what) {
  return memmem(line.text, line.size, what, strlen(what));
}

/* The number right before " what" ("8 registers"); false: not in the line. */
static bool number_before(struct line line, const char *what,
                          uint32_t *number) {
  const char *at = find(line, what);
  if (!at)
    return false;
  const char *start = at;
  while (start > line.text && start[-1] >= '0' && start[-1] <= '9')
    start--;
  if (start == at || at - start > 9)
    return false;
  *number = (uint32_t)strtoul(start, NULL, 10);
  return true;
}

/* Adds a kernel whose name ends at the closing quote. */
static enum pacc_model_status add_kernel(struct line line, const char *name,
                                         struct pacc_ptxas_report *report) {
  const char *end = memchr(name, '\'', (size_t)(line.text + line.size - name));
  if (!end)
    return PACC_MODEL_OK;
  struct pacc_ptxas_kernel *grown =
      realloc(report->kernels, (report->n + 1) * sizeof *grown);
  if (!grown)
    return PACC_MODEL_NOMEM;
  report->kernels = grown;
  struct pacc_ptxas_kernel *kernel = &grown[report->n];
  memset(kernel, 0, sizeof *kernel);
  kernel->name = strndup(name, (size_t)(end - name));
  if (!kernel->name)
    return PACC_MODEL_NOMEM;
  report->n++;
  return PACC_MODEL_OK;
}

static bool is_name(struct line line, const char *start, const char *name) {
  size_t rest = (size_t)(line.text + line.size - start);
  return rest == strlen(name) && memcmp(start, name, rest) == 0;
}

/* Properties of functions that a kernel calls come between its lines and the
 * next kernel's: they are not the kernel's. */
enum pacc_model_status pacc_ptxas_parse(const char *text,
                                        struct pacc_ptxas_report *report) {
  memset(report, 0, sizeof *report);
  bool own = false;
  while (*text) {
    struct line line = {text, strcspn(text, "\r\n")};
    text += line.size + (text[line.size] != '\0');
    const char *at = find(line, ENTRY);
    if (at) {
      enum pacc_model_status status =
          add_kernel(line, at + strlen(ENTRY), report);
      if (status != PACC_MODEL_OK)
        return status;
      continue;
    }
    if (report->n == 0)
      continue;
    struct pacc_ptxas_kernel *kernel = &report->kernels[report->n - 1];
    at = find(line, PROPERTIES);
    if (at) {
      own = is_name(line, at + strlen(PROPERTIES), kernel->name);
    } else if (own &&
               number_before(line, " bytes stack frame", &kernel->stack)) {
      number_before(line, " bytes spill stores", &kernel->spill_stores);
      number_before(line, " bytes spill loads", &kernel->spill_loads);
    } else if (number_before(line, " registers", &kernel->regs)) {
      number_before(line, " barriers", &kernel->barriers);
      number_before(line, " bytes smem", &kernel->smem);
    }
  }
  return PACC_MODEL_OK;
}

const struct pacc_ptxas_kernel *
pacc_ptxas_kernel_find(const struct pacc_ptxas_report *report,
                       const char *name) {
  for (size_t i = 0; i < report->n; i++)
    if (strcmp(report->kernels[i].name, name) == 0)
      return &report->kernels[i];
  return NULL;
}

void pacc_ptxas_report_free(struct pacc_ptxas_report *report) {
  if (!report)
    return;
  for (size_t i = 0; i < report->n; i++)
    free(report->kernels[i].name);
  free(report->kernels);
  free(report->cubin);
  free(report->message);
  memset(report, 0, sizeof *report);
}

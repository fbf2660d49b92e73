/* status.c: names of status codes and the text about the last failure. */
#include "status.h"

#include <stdarg.h>
#include <stdio.h>

static _Thread_local char detail[PACC_CPU_DETAIL_SIZE];

const char *pacc_cpu_status_name(int status) {
  switch (status) {
  case PACC_CPU_OK:
    return "PACC_CPU_SUCCESS";
#define PACC_CPU_STATUS_NAME(id, number)                                       \
  case number:                                                                 \
    return "PACC_CPU_ERROR_" #id;
    PACC_CPU_STATUS_CODES(PACC_CPU_STATUS_NAME)
#undef PACC_CPU_STATUS_NAME
  default:
    return "PACC_CPU_ERROR_UNKNOWN";
  }
}

int pacc_cpu_fail(int status, const char *format, ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(detail, sizeof(detail), format, args);
  va_end(args);
  return status;
}

const char *pacc_cpu_detail(void) { return detail; }

/* fake_calls.c: counts the calls of the stand-in for the driver, and lets some
 * of them fail; the thread's current context, without which most fail.
 */
#include "fake_private.h"

enum { MAX_FUNCTIONS = 64, STACK = 8 };

pthread_mutex_t fake_lock = PTHREAD_MUTEX_INITIALIZER;

static bool deinitialized;
static unsigned late_calls;
static _Thread_local void *contexts[STACK];
static _Thread_local unsigned depth;

static struct {
  const char *name;
  unsigned calls;
} functions[MAX_FUNCTIONS] = {
    {"cuInit", 0},
    {"cuDriverGetVersion", 0},
    {"cuDeviceGetCount", 0},
    {"cuDeviceGet", 0},
    {"cuDeviceGetName", 0},
    {"cuDeviceGetUuid_v2", 0},
    {"cuDeviceGetAttribute", 0},
    {"cuDeviceTotalMem_v2", 0},
    {"cuDevicePrimaryCtxRetain", 0},
    {"cuDevicePrimaryCtxRelease_v2", 0},
    {"cuCtxPushCurrent_v2", 0},
    {"cuCtxPopCurrent_v2", 0},
    {"cuModuleLoadDataEx", 0},
    {"cuModuleUnload", 0},
    {"cuModuleGetFunction", 0},
    {"cuFuncSetAttribute", 0},
    {"cuStreamCreate", 0},
    {"cuStreamDestroy_v2", 0},
    {"cuStreamSynchronize", 0},
    {"cuMemAlloc_v2", 0},
    {"cuMemFree_v2", 0},
    {"cuMemHostRegister_v2", 0},
    {"cuMemHostUnregister", 0},
    {"cuMemcpyHtoDAsync_v2", 0},
    {"cuMemcpyDtoHAsync_v2", 0},
    {"cuMemcpyDtoDAsync_v2", 0},
    {"cuMemcpy2DAsync_v2", 0},
    {"cuLaunchKernel", 0},
    {"cuLaunchCooperativeKernel", 0},
    {"cuOccupancyMaxActiveBlocksPerMultiprocessor", 0},
    {"cuEventCreate", 0},
    {"cuEventDestroy_v2", 0},
    {"cuEventRecord", 0},
    {"cuEventSynchronize", 0},
    {"cuEventElapsedTime", 0},
    {"cuThreadExchangeStreamCaptureMode", 0},
    {"cuFuncGetParamInfo", 0},
};
static unsigned total_calls;

static struct {
  const char *function;
  unsigned first, count;
  int status;
} rule;
/* ---- calls ------------------------------------------------------------ */

static bool rule_hits(unsigned call) {
  return call >= rule.first && call - rule.first < rule.count;
}

int fake_enter(const char *function, bool needs_context) {
  int status = SUCCESS;
  unsigned call = 0;
  pthread_mutex_lock(&fake_lock);
  total_calls++;
  for (unsigned i = 0; i < MAX_FUNCTIONS && functions[i].name; i++)
    if (strcmp(functions[i].name, function) == 0)
      call = ++functions[i].calls;
  if (deinitialized) {
    late_calls++;
    status = DEINITIALIZED;
  } else if (rule.count && strcmp(rule.function, "*") == 0) {
    status = rule_hits(total_calls) ? rule.status : SUCCESS;
  } else if (rule.count && strcmp(rule.function, function) == 0) {
    status = rule_hits(call) ? rule.status : SUCCESS;
  }
  if (!status && needs_context && (depth == 0 || !contexts[depth - 1]))
    status = INVALID_CONTEXT;
  pthread_mutex_unlock(&fake_lock);
  return status;
}

void fake_end(void) {
  pthread_mutex_lock(&fake_lock);
  deinitialized = true;
  pthread_mutex_unlock(&fake_lock);
}

#pragma GCC visibility push(default)

/* ---- contexts --------------------------------------------------------- */

int cuCtxPushCurrent_v2(void *context) {
  ENTER(false);
  if (depth == STACK)
    return INVALID_VALUE;
  contexts[depth++] = context;
  return SUCCESS;
}

int cuCtxPopCurrent_v2(void **context) {
  /* A context that can't be popped would stay for good: the call that fails
   * does its work nevertheless. */
  int status = fake_enter(__func__, false);
  if (depth == 0)
    return INVALID_CONTEXT;
  *context = contexts[--depth];
  return status;
}

int cuThreadExchangeStreamCaptureMode(int *mode) {
  static _Thread_local int current;
  ENTER(false);
  int old = current;
  current = *mode;
  *mode = old;
  return SUCCESS;
}

/* ---- controls --------------------------------------------------------- */

void fake_cuda_fail(const char *function, unsigned first, unsigned count,
                    int status) {
  pthread_mutex_lock(&fake_lock);
  rule.function = function;
  rule.first = first;
  rule.count = count;
  rule.status = status;
  pthread_mutex_unlock(&fake_lock);
}

unsigned fake_cuda_calls(const char *function) {
  unsigned calls = 0;
  pthread_mutex_lock(&fake_lock);
  if (strcmp(function, "*") == 0)
    calls = total_calls;
  for (unsigned i = 0; i < MAX_FUNCTIONS && functions[i].name; i++)
    if (strcmp(functions[i].name, function) == 0)
      calls = functions[i].calls;
  pthread_mutex_unlock(&fake_lock);
  return calls;
}

const char *fake_cuda_function(unsigned number) {
  return number < MAX_FUNCTIONS ? functions[number].name : NULL;
}

void *fake_cuda_current(void) { return depth ? contexts[depth - 1] : NULL; }

void fake_cuda_push(void *context) { contexts[depth++] = context; }

unsigned fake_cuda_late_calls(void) { return late_calls; }

/* stream_calls.c: the functions that work in a stream. CUDA has each twice, for
 * programs whose default stream is the legacy one and for those whose it is the
 * thread's own; its header names the latter when
 * CUDA_API_PER_THREAD_DEFAULT_STREAM is defined. This file is compiled in both
 * ways, and holds no other functions. */
#include "cudart_private.h"

#include "status.h"

#include <stdlib.h>
#include <string.h>

#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
enum { PER_THREAD = 1 };
#else
enum { PER_THREAD = 0 };
#endif

/* Begins a function that puts something into a stream. */
#define ENTER_STREAM(device, stream, handle)                                   \
  PACC_CUDART_ENTER(device);                                                   \
  struct pacc_stream *stream = pacc_cudart_stream(device, handle, PER_THREAD); \
  if (!stream)                                                                 \
  return cudaPeekAtLastError()

static cudaError_t queued(int status) {
  return pacc_cudart_error(pacc_cudart_translate(status));
}

static cudaError_t finish(struct pacc_cudart *device,
                          struct pacc_stream *stream) {
  return pacc_cudart_finished(pacc_queue_finish_stream(device->queue, stream));
}

/* -- Launches -- */

PACC_PUBLIC cudaError_t cudaLaunchKernel(const void *func, dim3 grid,
                                         dim3 block, void **arguments,
                                         size_t shared, cudaStream_t handle) {
  ENTER_STREAM(device, stream, handle);
  const struct pacc_cpu_kernel *kernel = pacc_cudart_kernel(func);
  if (!kernel)
    return pacc_cudart_error(cudaErrorInvalidDeviceFunction);
  if (shared > UINT32_MAX)
    return pacc_cudart_error(cudaErrorInvalidValue);
  _Alignas(16) unsigned char params[PACC_CPU_MAX_PARAMS];
  pacc_cpu_kernel_pack(kernel, arguments, params);
  struct pacc_cpu_work work = {.kernel = kernel,
                               .grid = {grid.x, grid.y, grid.z},
                               .block = {block.x, block.y, block.z},
                               .shared = (uint32_t)shared,
                               .params = params};
  cudaError_t error = pacc_cudart_check(&work);
  return error ? pacc_cudart_error(error)
               : queued(pacc_stream_launch(stream, &work));
}

/* Blocks run one after the other, so that those of a grid can't wait for each
 * other. */
PACC_PUBLIC cudaError_t cudaLaunchCooperativeKernel(const void *func, dim3 grid,
                                                    dim3 block,
                                                    void **arguments,
                                                    size_t shared,
                                                    cudaStream_t stream) {
  if (grid.x != 1 || grid.y != 1 || grid.z != 1) {
    pacc_cpu_fail(PACC_CPU_ERROR_UNSUPPORTED,
                  "a cooperative launch of more than one block");
    return pacc_cudart_status(PACC_CPU_ERROR_UNSUPPORTED);
  }
  return cudaLaunchKernel(func, grid, block, arguments, shared, stream);
}

/* Attributes that ask for nothing that is not so, and hints. */
static cudaError_t check_attributes(const cudaLaunchConfig_t *config) {
  for (unsigned i = 0; i < config->numAttrs; i++) {
    const cudaLaunchAttribute *a = &config->attrs[i];
    switch (a->id) {
    case cudaLaunchAttributeIgnore:
    case cudaLaunchAttributeAccessPolicyWindow:
    case cudaLaunchAttributePriority:
    case cudaLaunchAttributeProgrammaticStreamSerialization:
    case cudaLaunchAttributeClusterSchedulingPolicyPreference:
      break;
    case cudaLaunchAttributeClusterDimension:
      if (a->val.clusterDim.x * a->val.clusterDim.y * a->val.clusterDim.z != 1)
        return cudaErrorNotSupported;
      break;
    default:
      return cudaErrorNotSupported;
    }
  }
  return cudaSuccess;
}

PACC_PUBLIC cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config,
                                            const void *func,
                                            void **arguments) {
  cudaError_t error = config ? check_attributes(config) : cudaErrorInvalidValue;
  return error ? pacc_cudart_error(error)
               : cudaLaunchKernel(func, config->gridDim, config->blockDim,
                                  arguments, config->dynamicSmemBytes,
                                  config->stream);
}

struct host_call {
  void (*function)(void *);
  void *data;
};
static void run_host_call(void *data) {
  const struct host_call *call = data;
  call->function(call->data);
}

PACC_PUBLIC cudaError_t cudaLaunchHostFunc(cudaStream_t handle,
                                           cudaHostFn_t function, void *data) {
  ENTER_STREAM(device, stream, handle);
  (void)device;
  struct host_call call = {function, data};
  return queued(pacc_stream_call(stream, run_host_call, &call, sizeof(call)));
}

struct callback {
  cudaStreamCallback_t function;
  cudaStream_t stream;
  void *data;
};
static void run_callback(void *data) {
  const struct callback *callback = data;
  callback->function(callback->stream, cudaSuccess, callback->data);
}

PACC_PUBLIC cudaError_t cudaStreamAddCallback(cudaStream_t handle,
                                              cudaStreamCallback_t function,
                                              void *data, unsigned flags) {
  ENTER_STREAM(device, stream, handle);
  (void)device;
  if (flags)
    return pacc_cudart_error(cudaErrorInvalidValue);
  struct callback callback = {function, handle, data};
  return queued(
      pacc_stream_call(stream, run_callback, &callback, sizeof(callback)));
}

/* -- Copies -- */

struct copy {
  void *to;
  size_t to_pitch;
  const void *from;
  size_t from_pitch, width, rows;
};

static void run_copy(void *data) {
  const struct copy *c = data;
  pacc_cpu_memory_copy(c->to, c->to_pitch, c->from, c->from_pitch, c->width,
                       c->rows);
}

static uint64_t number_of(const void *address) {
  return (uint64_t)(uintptr_t)address;
}

/* Both ends of a copy, as far as they are on the device. */
static cudaError_t check_copy(const struct copy *c, enum cudaMemcpyKind kind) {
  int to = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
  int from = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
  if ((unsigned)kind > cudaMemcpyDefault)
    return cudaErrorInvalidMemcpyDirection;
  if (c->rows > 1 && (c->to_pitch < c->width || c->from_pitch < c->width))
    return cudaErrorInvalidPitchValue;
  int status = 0;
  if (to || pacc_cudart_is_device(c->to))
    status = pacc_cpu_memory_check("to", number_of(c->to), c->to_pitch,
                                   c->width, c->rows);
  if (!status && (from || pacc_cudart_is_device(c->from)))
    status = pacc_cpu_memory_check("from", number_of(c->from), c->from_pitch,
                                   c->width, c->rows);
  if (status)
    pacc_cudart_status(status);
  return status ? cudaErrorInvalidValue : cudaSuccess;
}

/* A copy from or to pageable memory is over when the call returns (CUDA Runtime
 * API, API synchronization behavior). */
static cudaError_t copy(cudaStream_t handle, const struct copy *c,
                        enum cudaMemcpyKind kind, int wait) {
  ENTER_STREAM(device, stream, handle);
  if (!c->width || !c->rows)
    return cudaSuccess;
  cudaError_t error = check_copy(c, kind);
  if (error)
    return pacc_cudart_error(error);
  error = queued(pacc_stream_call(stream, run_copy, c, sizeof(*c)));
  if (!wait)
    wait = !pacc_cudart_is_device(c->to) || !pacc_cudart_is_device(c->from);
  return error || !wait ? error : finish(device, stream);
}

PACC_PUBLIC cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t size,
                                        enum cudaMemcpyKind kind,
                                        cudaStream_t stream) {
  struct copy c = {to, size, from, size, size, 1};
  return copy(stream, &c, kind, 0);
}

PACC_PUBLIC cudaError_t cudaMemcpy(void *to, const void *from, size_t size,
                                   enum cudaMemcpyKind kind) {
  struct copy c = {to, size, from, size, size, 1};
  return copy(0, &c, kind, 1);
}

PACC_PUBLIC cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch,
                                          const void *from, size_t from_pitch,
                                          size_t width, size_t rows,
                                          enum cudaMemcpyKind kind,
                                          cudaStream_t stream) {
  struct copy c = {to, to_pitch, from, from_pitch, width, rows};
  return copy(stream, &c, kind, 0);
}

PACC_PUBLIC cudaError_t cudaMemcpy2D(void *to, size_t to_pitch,
                                     const void *from, size_t from_pitch,
                                     size_t width, size_t rows,
                                     enum cudaMemcpyKind kind) {
  struct copy c = {to, to_pitch, from, from_pitch, width, rows};
  return copy(0, &c, kind, 1);
}

/* The place `offset` bytes into a device variable of which `size` bytes are to
 * be copied, NULL with an error noted. */
static void *find_symbol(const void *symbol, size_t size, size_t offset) {
  struct pacc_cpu_variable variable;
  if (!pacc_cudart_variable(symbol, &variable)) {
    pacc_cudart_error(cudaErrorInvalidSymbol);
    return NULL;
  }
  if (offset > variable.size || size > variable.size - offset) {
    pacc_cudart_error(cudaErrorInvalidValue);
    return NULL;
  }
  return (void *)(uintptr_t)(variable.address + offset);
}

static cudaError_t copy_to_symbol(const void *symbol, const void *from,
                                  size_t size, size_t offset,
                                  enum cudaMemcpyKind kind, cudaStream_t stream,
                                  int wait) {
  struct copy c = {
      find_symbol(symbol, size, offset), size, from, size, size, 1};
  return c.to ? copy(stream, &c, kind, wait) : cudaPeekAtLastError();
}
static cudaError_t copy_from_symbol(void *to, const void *symbol, size_t size,
                                    size_t offset, enum cudaMemcpyKind kind,
                                    cudaStream_t stream, int wait) {
  struct copy c = {to, size, find_symbol(symbol, size, offset), size, size, 1};
  return c.from ? copy(stream, &c, kind, wait) : cudaPeekAtLastError();
}

PACC_PUBLIC cudaError_t cudaMemcpyToSymbolAsync(const void *symbol,
                                                const void *from, size_t size,
                                                size_t offset,
                                                enum cudaMemcpyKind kind,
                                                cudaStream_t stream) {
  return copy_to_symbol(symbol, from, size, offset, kind, stream, 0);
}
PACC_PUBLIC cudaError_t cudaMemcpyToSymbol(const void *symbol, const void *from,
                                           size_t size, size_t offset,
                                           enum cudaMemcpyKind kind) {
  return copy_to_symbol(symbol, from, size, offset, kind, 0, 1);
}
PACC_PUBLIC cudaError_t cudaMemcpyFromSymbolAsync(void *to, const void *symbol,
                                                  size_t size, size_t offset,
                                                  enum cudaMemcpyKind kind,
                                                  cudaStream_t stream) {
  return copy_from_symbol(to, symbol, size, offset, kind, stream, 0);
}
PACC_PUBLIC cudaError_t cudaMemcpyFromSymbol(void *to, const void *symbol,
                                             size_t size, size_t offset,
                                             enum cudaMemcpyKind kind) {
  return copy_from_symbol(to, symbol, size, offset, kind, 0, 1);
}

/* -- Fills -- */

struct fill {
  unsigned char *to;
  size_t pitch, width, rows;
  int value;
};

static void run_fill(void *data) {
  const struct fill *f = data;
  for (size_t row = 0; row < f->rows; row++)
    memset(f->to + row * f->pitch, f->value, f->width);
}

static cudaError_t fill(cudaStream_t handle, void *to, size_t pitch, int value,
                        size_t width, size_t rows) {
  ENTER_STREAM(device, stream, handle);
  (void)device;
  struct fill f = {to, pitch, width, rows, value};
  if (!width || !rows)
    return cudaSuccess;
  int status = pacc_cpu_memory_check("to", number_of(to), pitch, width, rows);
  if (status) {
    pacc_cudart_status(status);
    return pacc_cudart_error(cudaErrorInvalidValue);
  }
  return queued(pacc_stream_call(stream, run_fill, &f, sizeof(f)));
}

PACC_PUBLIC cudaError_t cudaMemsetAsync(void *to, int value, size_t size,
                                        cudaStream_t stream) {
  return fill(stream, to, size, value, size, 1);
}
PACC_PUBLIC cudaError_t cudaMemset(void *to, int value, size_t size) {
  return fill(0, to, size, value, size, 1);
}
PACC_PUBLIC cudaError_t cudaMemset2DAsync(void *to, size_t pitch, int value,
                                          size_t width, size_t rows,
                                          cudaStream_t stream) {
  return fill(stream, to, pitch, value, width, rows);
}
PACC_PUBLIC cudaError_t cudaMemset2D(void *to, size_t pitch, int value,
                                     size_t width, size_t rows) {
  return fill(0, to, pitch, value, width, rows);
}

/* -- Memory in stream order -- */

struct release {
  struct pacc_cudart *device;
  uint64_t address;
};
static void run_release(void *data) {
  const struct release *r = data;
  pacc_cpu_memory_free(&r->device->memory, r->address);
}

PACC_PUBLIC cudaError_t cudaMallocAsync(void **result, size_t size,
                                        cudaStream_t handle) {
  ENTER_STREAM(device, stream, handle);
  (void)stream;
  return pacc_cudart_alloc(device, result, size);
}

PACC_PUBLIC cudaError_t cudaFreeAsync(void *address, cudaStream_t handle) {
  ENTER_STREAM(device, stream, handle);
  struct release r = {device, number_of(address)};
  if (!address)
    return cudaSuccess;
  if (!pacc_cudart_is_device(address))
    return pacc_cudart_error(cudaErrorInvalidValue);
  return queued(pacc_stream_call(stream, run_release, &r, sizeof(r)));
}

/* A hint. */
#if CUDART_VERSION >= 13000
PACC_PUBLIC cudaError_t cudaMemPrefetchAsync(const void *address, size_t size,
                                             struct cudaMemLocation location,
                                             unsigned flags,
                                             cudaStream_t handle) {
  (void)flags;
#else
PACC_PUBLIC cudaError_t cudaMemPrefetchAsync(const void *address, size_t size,
                                             int location,
                                             cudaStream_t handle) {
#endif
  ENTER_STREAM(device, stream, handle);
  (void)device;
  (void)stream;
  (void)location;
  int status = pacc_cpu_memory_check("to", number_of(address), 0, size, 1);
  return pacc_cudart_error(status ? cudaErrorInvalidValue : cudaSuccess);
}

/* -- Streams and events -- */

PACC_PUBLIC cudaError_t cudaStreamSynchronize(cudaStream_t handle) {
  ENTER_STREAM(device, stream, handle);
  return finish(device, stream);
}

PACC_PUBLIC cudaError_t cudaStreamQuery(cudaStream_t handle) {
  ENTER_STREAM(device, stream, handle);
  if (pacc_stream_is_empty(device->queue, stream))
    return cudaSuccess;
  int status = pacc_queue_step(device->queue);
  if (status)
    return pacc_cudart_finished(status);
  return pacc_stream_is_empty(device->queue, stream) ? cudaSuccess
                                                     : cudaErrorNotReady;
}

PACC_PUBLIC cudaError_t cudaStreamWaitEvent(cudaStream_t handle,
                                            cudaEvent_t event, unsigned flags) {
  ENTER_STREAM(device, stream, handle);
  (void)device;
  (void)flags;
  if (!event)
    return pacc_cudart_error(cudaErrorInvalidResourceHandle);
  struct pacc_mark *mark = ((struct pacc_event *)event)->mark;
  return mark ? queued(pacc_stream_wait(stream, mark)) : cudaSuccess;
}

PACC_PUBLIC cudaError_t cudaEventRecordWithFlags(cudaEvent_t event,
                                                 cudaStream_t handle,
                                                 unsigned flags) {
  ENTER_STREAM(device, stream, handle);
  (void)device;
  if (!event || flags)
    return pacc_cudart_error(event ? cudaErrorNotSupported
                                   : cudaErrorInvalidResourceHandle);
  struct pacc_event *e = (struct pacc_event *)event;
  struct pacc_mark *mark = NULL;
  cudaError_t error = queued(pacc_stream_mark(stream, &mark));
  if (!error) {
    pacc_mark_drop(e->mark);
    e->mark = mark;
  }
  return error;
}

PACC_PUBLIC cudaError_t cudaEventRecord(cudaEvent_t event,
                                        cudaStream_t stream) {
  return cudaEventRecordWithFlags(event, stream, cudaEventRecordDefault);
}

PACC_PUBLIC cudaError_t cudaStreamGetFlags(cudaStream_t stream,
                                           unsigned *flags) {
  return pacc_cudart_stream_attributes(stream, flags, NULL, NULL);
}
PACC_PUBLIC cudaError_t cudaStreamGetPriority(cudaStream_t stream,
                                              int *priority) {
  return pacc_cudart_stream_attributes(stream, NULL, priority, NULL);
}
PACC_PUBLIC cudaError_t cudaStreamGetId(cudaStream_t stream,
                                        unsigned long long *id) {
  return pacc_cudart_stream_attributes(stream, NULL, NULL, id);
}

/* fake_cuda.h: controls of a stand-in for NVIDIA's driver, libcuda.so.1.
 *
 * Its device memory is host memory, its kernels are functions of the test.
 * Work is queued per stream and runs when the stream is waited for, so that
 * memory which is used too early or too late shows. A call without a current
 * context, an address that was not allocated and a call after the driver was
 * shut down are errors, as they are in the real one.
 */
#ifndef FAKE_CUDA_H
#define FAKE_CUDA_H

#include <stddef.h>
#include <stdint.h>

/* A kernel: runs the whole grid. params[i] points to parameter i. */
typedef void fake_kernel(const unsigned grid[3], const unsigned block[3],
                         void **params);

/* Makes `name` known: modules whose code has ".entry name(" contain it. Code is
 * PTX, or "machine code" that begins with "\177ELF sm_80". */
void fake_cuda_kernel(const char *name, fake_kernel *kernel, unsigned n_params,
                      const uint32_t *param_sizes);

/* Calls number first, first + 1, ... (`count` of them, from 1) of the driver
 * function return `status` and do nothing, or only half of what they should.
 * "*" counts the calls of all functions together. One rule at a time; count 0
 * takes it away. */
void fake_cuda_fail(const char *function, unsigned first, unsigned count,
                    int status);

/* Calls so far of one function, or of all ("*"). */
unsigned fake_cuda_calls(const char *function);

/* The number-th function's name, NULL past the last. */
const char *fake_cuda_function(unsigned number);

/* The device: how many there are, their compute capability (80 at first),
 * memory in bytes, and whether modules that load write to the JIT's log. */
void fake_cuda_configure(int devices, int cc, uint64_t memory,
                         const char *jit_log);

/* Modules that were compiled from PTX so far. */
unsigned fake_cuda_compiled(void);

/* Kernels may access the host's memory. */
void fake_cuda_share_memory(void);

/* No launches whose blocks are all resident. */
void fake_cuda_refuse_resident(void);

/* Machine code is from a toolkit that is too new for this driver. */
void fake_cuda_refuse_cubins(void);

/* By the events, every launch takes `launch` milliseconds, the first one after
 * a wait `first` more, and nothing else takes time. */
void fake_cuda_set_times(double launch, double first);

/* Larger blocks take more registers than there are. */
void fake_cuda_limit_threads(unsigned threads);

/* Objects that exist now. */
struct fake_cuda_live {
  unsigned contexts, modules, streams, events, allocations, host_allocations;
  uint64_t bytes;
};
void fake_cuda_live(struct fake_cuda_live *live);

/* The context that is current on this thread, and one to make current. */
void *fake_cuda_current(void);
void fake_cuda_push(void *context);

/* Grid and block of the last launch. */
void fake_cuda_last_launch(unsigned grid[3], unsigned block[3]);

/* Bytes of the last allocation that was asked for. */
uint64_t fake_cuda_last_size(void);

/* Calls that came after the driver's own exit handler. */
unsigned fake_cuda_late_calls(void);

#endif

/* abi.h: what the plugin's generated host code and the host runtime agree on.
 *
 * The plugin emits one `struct pacc_image` per translation unit, one
 * `struct pacc_region` per offloaded region, and calls of the __pacc_rt_*
 * functions below. Every image refers to the symbol PACC_ABI_SYMBOL, so that
 * a program built for another ABI fails at link time.
 *
 * A region is all or nothing. The first failing call of a region makes the
 * later ones do nothing, and __pacc_rt_end then returns 0 with host memory
 * untouched: the caller runs the original loops.
 *
 *   run = __pacc_rt_worth(&region, sizes, 1, bytes) ? __pacc_rt_begin(&region)
 *                                                   : NULL;
 *   if (run) {
 *     a = __pacc_rt_array(run, "A", A, lo, hi);
 *     __pacc_rt_copy(run, 0, PACC_COPY_IN, lo, hi - lo, 1, 0);
 *     __pacc_rt_copy(run, 0, PACC_COPY_OUT, lo, hi - lo, 1, 0);
 *     __pacc_rt_launch(run, 0, nx, ny, nz, (void *[]){&a, &n});
 *     if (__pacc_rt_end(run)) goto done;
 *   }
 *   __pacc_rt_host_begin(&region);
 *   original loops
 *   __pacc_rt_host_end(&region);
 * done:
 */
#ifndef PACC_ABI_H
#define PACC_ABI_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PACC_ABI_VERSION 4
#define PACC_ABI_SYMBOL __pacc_rt_abi_v4

/* Defined by the runtime as `const int __pacc_rt_abi_v4 = PACC_ABI_VERSION;` */
extern const int PACC_ABI_SYMBOL;

/* The threads per block along x, y, z of a launch that has at most so many
 * threads per multiprocessor of the device. */
struct pacc_sized_block {
  uint64_t threads_sm;
  uint32_t block[3];
};

/* One GPU kernel.
 * name        its symbol in the PTX and in the bitcode
 * label       where its loops stand in the source, "gemm.c:42", or ""
 * dims        dimensions of its grid, 0 (one thread) to 3
 * block       threads per block along x, y, z
 * max_threads 0: the code is for `block` alone; else it runs with any block of
 *             up to so many threads
 * n_smaller   blocks for smaller launches, by ascending threads_sm: the first
 * smaller     that holds is taken, `block` if none does
 * shared      bytes of dynamic shared memory per block
 * n_params    number of parameters
 * param_sizes bytes of each parameter (pointers are 8)
 */
struct pacc_kernel {
  const char *name;
  const char *label;
  uint32_t dims;
  uint32_t block[3];
  uint32_t max_threads;
  uint32_t n_smaller;
  const struct pacc_sized_block *smaller;
  uint32_t shared;
  uint32_t n_params;
  const uint32_t *param_sizes;
};

/* The device code of one translation unit.
 * abi         &PACC_ABI_SYMBOL of the version it was compiled for
 * name        source file
 * arch        "sm_90"
 * ptx         NUL-terminated text of ptx_size bytes (without the NUL)
 * cubin       the same as machine code for `arch`, or NULL
 * bitcode     the same module as LLVM bitcode for the CPU device, or NULL
 * *_hash      64-bit FNV-1a of the bytes: a damaged image is refused
 * state       the runtime's own; NULL in the object file
 */
struct pacc_image {
  const int *abi;
  const char *name;
  const char *arch;
  const char *ptx;
  uint64_t ptx_size;
  uint64_t ptx_hash;
  const void *cubin;
  uint64_t cubin_size;
  uint64_t cubin_hash;
  const void *bitcode;
  uint64_t bitcode_size;
  uint64_t bitcode_hash;
  const struct pacc_kernel *kernels;
  uint64_t n_kernels;
  void *state;
};

/* One offloaded region.
 * name        readable: "kernel_gemm_scop0"
 * location    its place in the source, "gemm.c:77" or ""
 * *_factor    what the runtime has seen of it, by size: bits of a float, real
 *             by estimated time; zero in the object file
 * settled     with fewer instances the original loops run, whatever the device
 *             has of the data; the runtime's own, zero in the object file
 */
#define PACC_HISTORY_CLASSES 16

struct pacc_region {
  struct pacc_image *image;
  const char *name;
  const char *location;
  uint32_t host_factor[PACC_HISTORY_CLASSES];
  uint32_t device_factor[PACC_HISTORY_CLASSES];
  double settled;
};

/* What one kernel has to do in a whole region, every loop nest counted as the
 * box around it.
 * instances   statement instances
 * threads     of all launches
 * loop        1, 2, ...: its launches are phases of this loop of the region,
 *             which one kernel can run (struct pacc_loop); 0: of none. Phases
 *             of a loop follow each other
 */
struct pacc_size {
  double instances;
  double launches;
  double threads;
  double loop;
};

/* A stretch of a function in which regions leave their arrays on the device.
 * region        its name and place; the history is not used
 * aborts, rest  how often it was given up, and how many of the next times it is
 *               not tried; the runtime's own, zero in the object file
 */
struct pacc_span {
  struct pacc_region region;
  uint32_t aborts;
  uint32_t rest;
};

enum {
  PACC_COPY_IN = 1,  /* host to device, before the first launch */
  PACC_COPY_OUT = 2, /* device to host, at the region's end */
  /* The program may access none of the bytes: the region fails if they cannot
   * all be read. */
  PACC_COPY_MAYBE = 4,
  /* With PACC_COPY_OUT: the program may not write all of the bytes. They are
   * copied in too, and only those that the kernels changed are written. */
  PACC_COPY_CHANGES = 8,
  /* From this bit on, with PACC_COPY_OUT: the logarithm, to the base 2, of the
   * bytes that are written together where only changes are: those of an element
   * of the array, or of a part of it, 8 at most. */
  PACC_COPY_UNIT_SHIFT = 8,
};

/* Is the device expected to be faster than the original loops? `bytes` is what
 * would be copied in both directions. 0: run the original loops, and then call
 * __pacc_rt_host_end, which learns from their time. Always 1 if PACC_DEVICE
 * names a device. */
int32_t __pacc_rt_worth(struct pacc_region *region,
                        const struct pacc_size *kernels, uint32_t n_kernels,
                        double bytes);

/* 0: where the host is faster by far whatever the device is, the original loops
 * run without a question, and without the calls around them. */
extern uint32_t __pacc_rt_always_asked;

/* Before the original loops, whatever the reason is that they run. */
void __pacc_rt_host_begin(struct pacc_region *region);

/* After them: learns from their time. */
void __pacc_rt_host_end(struct pacc_region *region);

/* Opens a region on this host thread. NULL: run the original loops. */
void *__pacc_rt_begin(struct pacc_region *region);

/* The same for a region whose kernels are to work in the host's memory itself
 * (-polly-acc-memory=managed), on devices that can: nothing is copied then.
 * Bytes that a region may write are restored if it fails. */
void *__pacc_rt_begin_managed(struct pacc_region *region);

/* Gives the bytes [lo, hi) relative to `host` a place on the device; copies
 * nothing. Arrays of a run are numbered 0, 1, ... in the order of these calls.
 * Returns the device address that stands for `host` itself (so the first byte
 * is at result + lo), 0 after a failure. hi <= lo: an empty array. */
uint64_t __pacc_rt_array(void *run, const char *name, void *host, int64_t lo,
                         int64_t hi);

/* Copies that loops have of an array may take this many bytes, or as many times
 * the bytes of the region's other arrays; the region fails beyond. */
#define PACC_EXPANSION_FREE (INT64_C(64) << 20)
#define PACC_EXPANSION_FACTOR 4

/* The same for an array of which the device has a copy for each iteration of
 * some loops: counts[0] * ... * counts[n - 1] copies of hi - lo bytes, one
 * after the other. Copies to and from the host are those of the last one, and
 * the result stands for `host` in it. These arrays come after all others. */
uint64_t __pacc_rt_array_copies(void *run, const char *name, void *host,
                                int64_t lo, int64_t hi, const int64_t *counts,
                                uint32_t n);

/* An array that is on the device only, and holds nothing at first: the same for
 * the bytes [lo, hi) relative to an address that the result stands for. Device
 * memory is taken for it even where kernels work in the host's. */
uint64_t __pacc_rt_scratch(void *run, const char *name, int64_t lo, int64_t hi);

/* Copies `count` rows of `width` bytes, `pitch` bytes apart, of array number
 * `array`; the first row starts `offset` bytes from its `host`. count = 1 is
 * one interval (pitch is not looked at). PACC_COPY_IN queues the copy at once,
 * PACC_COPY_OUT notes it for __pacc_rt_end. width <= 0 or count <= 0: nothing.
 * Bytes outside the array's [lo, hi) are a failure. */
void __pacc_rt_copy(void *run, uint32_t array, uint32_t direction,
                    int64_t offset, int64_t width, int64_t count,
                    int64_t pitch);

/* Queues kernel number `kernel` of the image with at least nx * ny * nz
 * threads: ceil(n / block) blocks along each dimension. Grid y and z are cut
 * off at 65,535 blocks; kernels that may have more loop over the rest. An
 * extent <= 0 launches nothing. params[i] points to the value of parameter i.
 */
void __pacc_rt_launch(void *run, uint32_t kernel, int64_t nx, int64_t ny,
                      int64_t nz, void **params);

enum { PACC_NO_KERNEL = 0x7fffffff, PACC_NO_BARRIER = 0x7fffffff };

/* A launch in a loop of launches.
 * kernel  its number in the image; PACC_NO_KERNEL if it is never made
 * waits   1: stands behind a barrier, most of the time, where one kernel runs
 *         the loop
 */
struct pacc_phase {
  uint32_t kernel;
  uint32_t waits;
};

/* A loop of launches that one kernel can run, too. That kernel has barriers
 * over its grid: all of its blocks have to be resident. Its grid has one
 * dimension, and any size.
 * kernel   its number in the image
 * always   1: it is to run wherever the device can, 0: where that is expected
 *          to be faster
 * barrier  the parameter that gets the address of a word of device memory,
 *          which is 0 before the first kernel that uses it; or PACC_NO_BARRIER
 * phases   the launches, n_phases of them
 */
struct pacc_loop {
  uint32_t kernel;
  uint32_t always;
  uint32_t barrier;
  uint32_t n_phases;
  const struct pacc_phase *phases;
};

/* Queues the loop's kernel if that is the better way, and then returns 1; also
 * after a failure. 0: the caller makes the launches. sizes[i] is what phase i
 * has to do in the whole loop, NULL if that is not known. */
int32_t __pacc_rt_loop(void *run, const struct pacc_loop *loop,
                       const struct pacc_size *sizes, void **params);

/* Waits, copies out, closes the region. 1: the results are in host memory.
 * 0: host memory is as it was at the region's begin. */
int32_t __pacc_rt_end(void *run);

/* Spans: several regions, one after the other on one thread, that are all or
 * nothing together. The host reads and writes none of their arrays meanwhile.
 *
 *   span = __pacc_rt_span_begin(&descriptor);
 *   if (!span) goto one_by_one;
 *   while (...) {
 *     if (!__pacc_rt_span_worth(span, &region, sizes, 1, bytes)) goto abort;
 *     run = __pacc_rt_span_region(span, &region);
 *     if (!run) goto abort;
 *     a = __pacc_rt_span_array(run, "A", A, lo, hi);
 *     as in any region: copies, launches
 *     if (!__pacc_rt_end(run)) goto abort;
 *   }
 *   if (__pacc_rt_span_end(span)) goto done;
 *   goto one_by_one;
 * abort:
 *   __pacc_rt_span_abort(span);
 * one_by_one:
 *   the same code with each region for itself
 * done:
 */

/* NULL: not now; run the regions one by one. */
void *__pacc_rt_span_begin(struct pacc_span *span);

/* __pacc_rt_worth for a region of the span. What other regions of the span
 * gained counts, too, and bytes count the first time. */
int32_t __pacc_rt_span_worth(void *span, struct pacc_region *region,
                             const struct pacc_size *kernels,
                             uint32_t n_kernels, double bytes);

/* __pacc_rt_begin for a region of the span. NULL: abort the span. */
void *__pacc_rt_span_region(void *span, struct pacc_region *region);

/* __pacc_rt_array for an array that stays on the device until the span's end:
 * its copies in are made once, its copies out by __pacc_rt_span_end. Arrays of
 * __pacc_rt_array are copied at once and by __pacc_rt_end as in other regions,
 * and must be memory that is as good as new when the regions run one by one. */
uint64_t __pacc_rt_span_array(void *run, const char *name, void *host,
                              int64_t lo, int64_t hi);

/* Copies everything out and closes the span. 1: the results are in host memory.
 * 0: host memory is as it was at the span's begin. */
int32_t __pacc_rt_span_end(void *span);

/* Closes the span; host memory is as it was at its begin. */
void __pacc_rt_span_abort(void *span);

#ifdef __cplusplus
}
#endif
#endif

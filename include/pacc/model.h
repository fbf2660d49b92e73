/* model.h: the performance model of lib/Model: what a GPU can hold, how many
 * blocks of a kernel fit on a multiprocessor (SM), which thread block is best
 * for a kernel, and what ptxas says about its registers.
 *
 * Plain C on plain structs: no LLVM, no isl, nothing printed, nothing aborted.
 * Functions that can fail return an enum pacc_model_status; 0 is success.
 * Units: bytes, threads, blocks, seconds, hertz. "Per SM" means per
 * multiprocessor, "sector" is 32 bytes, "line" is 128 bytes.
 */
#ifndef PACC_MODEL_H
#define PACC_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PACC_SECTOR 32u
#define PACC_LINE 128u
#define PACC_MAX_CARVEOUTS 10

/* "This resource does not limit the number of blocks." */
#define PACC_UNLIMITED INT32_MAX

enum pacc_model_status {
  PACC_MODEL_OK = 0,
  PACC_MODEL_INVALID,  /* an argument is out of its range */
  PACC_MODEL_NO_FIT,   /* no block of any size fits on an SM */
  PACC_MODEL_NOMEM,    /* out of memory */
  PACC_MODEL_NO_PTXAS, /* ptxas was not found or cannot be run */
  PACC_MODEL_PTXAS,    /* ptxas refused the PTX: see the report's message */
  PACC_MODEL_TIMEOUT,  /* ptxas took longer than allowed and was stopped */
  PACC_MODEL_NO_TEMP,  /* $TMPDIR (or /tmp) cannot be written */
};

/* One sentence for a status; never NULL. */
const char *pacc_model_message(enum pacc_model_status status);

/*===-- GPUs -------------------------------------------------------------===*/

/* One architecture: the limits of its SM, which hold for every product of that
 * compute capability, and the figures of one usual product, which the ranking
 * uses. lib/Model/gpu_table.def names the source of every constant.
 *
 * carveouts[]         sizes that the shared memory of an SM can be set to,
 *                     ascending, in bytes
 * smem_block          shared memory of a block without opting in to more
 * smem_block_optin    the same with cudaFuncAttributeMaxDynamicSharedMemorySize
 * smem_reserved       shared memory that the driver takes of every block
 * reg_unit            registers are given to a warp in multiples of this
 * barriers_sm         named barriers per SM, 0: they limit nothing
 */
struct pacc_gpu {
  const char *arch; /* "sm_90" */
  uint32_t cc;      /* 90; 121 for 12.1 */

  uint32_t warp_size;
  uint32_t threads_block;
  uint32_t threads_sm;
  uint32_t blocks_sm;
  uint32_t partitions;
  uint32_t regs_sm;
  uint32_t regs_thread;
  uint32_t reg_unit;
  uint32_t smem_sm;
  uint32_t smem_block;
  uint32_t smem_block_optin;
  uint32_t smem_reserved;
  uint32_t smem_unit;
  uint32_t barriers_sm;
  uint32_t n_carveouts;
  uint32_t carveouts[PACC_MAX_CARVEOUTS];

  const char *product;     /* "H200 SXM" */
  uint32_t sm_count;       /* SMs of the product */
  uint32_t l1_bytes;       /* L1 cache and shared memory of an SM together */
  uint32_t fp64_lanes;     /* double operations per clock and SM */
  uint32_t fp32_lanes;     /* float operations per clock and SM */
  uint32_t int_lanes;      /* 32-bit integer operations per clock and SM */
  uint64_t l2_bytes;       /* L2 cache */
  double clock;            /* hertz, boost */
  double memory_bandwidth; /* bytes per second */
};

/* The table, ascending by compute capability; NULL past its end. */
const struct pacc_gpu *pacc_gpu_at(size_t index);

/* "sm_90", "sm_90a", "sm_100f", "compute_90" or "9.0"; NULL if the text is no
 * architecture or the table has none of it. */
const struct pacc_gpu *pacc_gpu_find(const char *arch);

/*===-- Occupancy --------------------------------------------------------===*/

/* What a block of a kernel takes.
 * regs            registers per thread, as ptxas counts them
 * smem_static     bytes of shared memory fixed at compile time
 * smem_dynamic    bytes of shared memory asked for at the launch
 * smem_limit      what the kernel opted in to as the largest smem_dynamic; 0:
 *                 not opted in, the default limit of a block holds
 * carveout        percent of the SM's memory preferred as shared memory, 0 to
 *                 100; PACC_CARVEOUT_DEFAULT: as the driver likes
 * barriers        named barriers per block (a kernel that calls __syncthreads
 *                 has 1)
 * max_threads     the kernel's launch bound; 0: none
 */
struct pacc_resources {
  uint32_t regs;
  uint32_t smem_static;
  uint32_t smem_dynamic;
  uint32_t smem_limit;
  int32_t carveout;
  uint32_t barriers;
  uint32_t max_threads;
};

#define PACC_CARVEOUT_DEFAULT (-1)

/* Bits of pacc_occupancy_info.limits. */
enum pacc_limit {
  PACC_LIMIT_WARPS = 1,
  PACC_LIMIT_REGS = 2,
  PACC_LIMIT_SMEM = 4,
  PACC_LIMIT_BLOCKS = 8,
  PACC_LIMIT_BARRIERS = 16,
};

/* What fits on one SM.
 * blocks          active blocks, 0: the block cannot run at all
 * warps           active warps
 * warps_max       warps that the SM can hold
 * limits          enum pacc_limit bits of every resource that allows no more
 *                 than `blocks`
 * by_*            blocks that each resource alone allows, or PACC_UNLIMITED
 * regs_block      registers given to a block
 * smem_block      bytes of shared memory given to a block, with the reserved
 */
struct pacc_occupancy_info {
  int32_t blocks;
  int32_t warps;
  int32_t warps_max;
  uint32_t limits;
  int32_t by_warps;
  int32_t by_regs;
  int32_t by_smem;
  int32_t by_blocks;
  int32_t by_barriers;
  uint32_t regs_block;
  uint32_t smem_block;
};

/* Active blocks per SM for blocks of `threads` threads, by the allocation
 * rules of the CUDA occupancy calculator. INVALID: threads is 0 or carveout is
 * out of range. A block that cannot run is no error: blocks is 0. */
enum pacc_model_status pacc_occupancy(const struct pacc_gpu *gpu,
                                      const struct pacc_resources *resources,
                                      uint32_t threads,
                                      struct pacc_occupancy_info *info);

/* Dynamic shared memory in bytes of a block of `threads` threads. */
typedef uint32_t pacc_smem_of_threads(uint32_t threads, void *user);

/* The block size that cudaOccupancyMaxPotentialBlockSize suggests: the largest
 * one among those with the most active threads per SM. min_grid is the number
 * of blocks that fills the GPU once. smem, if not NULL, replaces
 * resources->smem_dynamic. NO_FIT: no size can run. */
enum pacc_model_status
pacc_occupancy_suggest(const struct pacc_gpu *gpu,
                       const struct pacc_resources *resources,
                       pacc_smem_of_threads *smem, void *user,
                       uint32_t *threads, uint32_t *min_grid);

/* "registers, blocks": the names of the bits, into `text`; returns `text`. */
char *pacc_limits_print(uint32_t limits, char *text, size_t size);

/*===-- What a kernel does -----------------------------------------------===*/

/* One memory access of a kernel, as seen by a thread at (x, y, z) in iteration
 * s of its innermost sequential loop. Its address is
 *   base + offset + x * stride[0] + y * stride[1] + z * stride[2] + s * seq
 * with a base that is aligned to 256 bytes.
 *
 * array       accesses with the same number touch the same array; with the
 *             same strides too, they share sectors (the points of a stencil)
 * size        bytes of an element
 * write       it stores
 * gather      the address is not affine in the thread's indices (indirect, or
 *             unknown): strides are ignored, each lane is its own sector
 * count       executions per thread (the mean over threads)
 * points      how many of these follow each other in one iteration, each with
 *             another element (the points of a thread's tile); 0: one
 * footprint   distinct bytes of the array that the whole kernel touches through
 *             this access; 0: derived from the strides
 */
struct pacc_access {
  const char *name;
  uint32_t array;
  uint32_t size;
  bool write;
  bool gather;
  int64_t offset;
  int64_t stride[3];
  int64_t seq;
  double count;
  uint32_t points;
  uint64_t footprint;
};

/* Shared memory in bytes (static and dynamic) of a block of that shape. */
typedef uint32_t pacc_smem_of_block(const uint32_t block[3], void *user);

/* One kernel.
 * dims          mapped dimensions, 1 to 3: x, xy, xyz
 * extent        threads along each; 1 beyond dims. Nominal values where they
 *               are run-time parameters
 * active        share of these threads that do work, in (0, 1]: 0.5 for a
 *               triangle
 * regs          registers per thread
 * regs_exact    they come from ptxas
 * smem          NULL: none
 * seq_trip      iterations of the innermost sequential loop per thread, 1: none
 * barriers      barriers that a thread meets, 0: none
 * sync          the statements of the kernel depend on each other across
 *               threads (the paper's 'synchronization'); barriers imply it
 * combine       warps combine what their lanes add to one element, if the lanes
 *               are neighbours along x: the block is then whole warps along x
 * fp64, fp32,   operations per thread; a fused multiplication and addition is
 * special, ints one. special: division, square root and functions
 * chain         latency-bound operations that follow each other in one
 *               iteration of the sequential loop (1 for a sum)
 * ahead         iterations of the sequential loop whose loads are issued before
 *               the first is waited for (its unroll factor); 0: unknown, 4
 */
struct pacc_work {
  const char *name;
  uint32_t dims;
  uint64_t extent[3];
  double active;
  uint32_t regs;
  bool regs_exact;
  pacc_smem_of_block *smem;
  void *smem_user;
  double seq_trip;
  uint32_t barriers;
  bool sync;
  bool combine;
  double fp64;
  double fp32;
  double special;
  double ints;
  double chain;
  double ahead;
  size_t n_accesses;
  const struct pacc_access *accesses;
};

/* What one warp request of an access costs, exactly, by going through the
 * lanes: the mean over warps of several blocks of that shape.
 * sectors, lines   distinct ones that the warp touches
 * cycles           clocks that the L1 cache takes: it looks up 4 lines and
 *                  delivers 128 bytes per clock, one 4-byte word of each of its
 *                  32 banks, for at most 128 bytes' worth of lanes at a time
 * lanes            lanes that the warp has (less than 32 in a smaller block)
 */
struct pacc_request {
  double sectors;
  double lines;
  double cycles;
  double lanes;
};

struct pacc_request pacc_access_request(const struct pacc_access *access,
                                        const uint32_t block[3]);

/* How lanes that follow each other along x meet memory. */
enum pacc_access_class {
  PACC_ACCESS_UNIFORM,    /* the same address */
  PACC_ACCESS_CONTIGUOUS, /* neighbouring elements */
  PACC_ACCESS_STRIDED,    /* stride[0] bytes apart */
  PACC_ACCESS_GATHER,
};

enum pacc_access_class pacc_access_classify(const struct pacc_access *access);

const char *pacc_access_class_name(enum pacc_access_class class_of);

/* What the threads of one block ask of memory through an access.
 * bytes         distinct bytes, in whole sectors, over the whole loop
 * reuse_threads how often the threads together use a byte that one iteration
 *               brings; below 1 if they leave parts of the sectors unused
 * reuse_loop    the same of the iterations: 1 if each brings its own bytes
 */
struct pacc_access_use {
  enum pacc_access_class class_of;
  struct pacc_request request;
  double bytes;
  double reuse_threads;
  double reuse_loop;
};

struct pacc_access_use pacc_access_describe(const struct pacc_work *work,
                                            const struct pacc_access *access,
                                            const uint32_t block[3]);

/* "strided by 8000 bytes": into `text`; returns `text`. */
char *pacc_access_print(const struct pacc_access *access, char *text,
                        size_t size);

/* Is it a *complex access* in the sense of the small-block rule: a warp of 32
 * threads along x needs more than twice the sectors that its bytes fill. */
bool pacc_access_complex(const struct pacc_access *access);

/*===-- Ranking of blocks ------------------------------------------------===*/

enum pacc_rank_mode {
  PACC_RANK_AUTO,  /* estimated time */
  PACC_RANK_PAPER, /* Hu et al., PAAP 2020: occupancy and small-block rule */
  PACC_RANK_API,   /* what the CUDA occupancy API suggests, along x */
  PACC_RANK_FIXED, /* one given shape */
};

struct pacc_rank_options {
  enum pacc_rank_mode mode;
  uint32_t fixed[3]; /* FIXED: the shape */
};

/* One candidate. Times are in seconds, for one launch of the whole kernel.
 * time          the estimate: what AUTO sorts by
 * t_issue       arithmetic and instruction issue of the busiest SM
 * t_l1          requests through the busiest SM's L1 cache
 * t_l2          sectors from the L2 cache
 * t_dram        bytes from device memory
 * t_latency     what a thread waits for, in all the waves it takes
 * t_blocks      starting the blocks
 * sectors       mean sectors per warp request, over all accesses
 * l2_bytes      bytes that all blocks together ask the L2 cache for
 * dram_bytes    bytes from and to device memory
 * blocks        blocks of the grid
 * waves         blocks / (SMs x active blocks)
 * tail          share of the last wave's places that stay empty, in [0, 1)
 * busy          share of the SMs that have a block at all, in (0, 1]
 * idle_threads  share of launched threads outside the extents
 * small_rule    the small-block rule moved the kernel to smaller blocks
 */
struct pacc_block_score {
  uint32_t block[3];
  uint32_t threads;
  double time;
  double t_issue;
  double t_l1;
  double t_l2;
  double t_dram;
  double t_latency;
  double t_blocks;
  struct pacc_occupancy_info occupancy;
  double sectors;
  double l2_bytes;
  double dram_bytes;
  uint64_t blocks;
  double waves;
  double tail;
  double busy;
  double idle_threads;
  bool small_rule;
};

struct pacc_ranking {
  size_t n;
  struct pacc_block_score *scores; /* best first */
  bool complex_access;             /* of any access */
  bool sync;
};

/* Ranks every block shape for a kernel on a GPU. Candidates have up to 1,024
 * threads (less if registers or shared memory allow no more), an x that is a
 * power of two or a multiple of the warp, powers of two along y and z, and
 * whole warps. Deterministic: equal estimates are ordered by threads, then x.
 * INVALID: a field is out of its range. NO_FIT: no candidate can run. The
 * result is released with pacc_ranking_free, also after an error. */
enum pacc_model_status pacc_rank_blocks(const struct pacc_gpu *gpu,
                                        const struct pacc_work *work,
                                        const struct pacc_rank_options *options,
                                        struct pacc_ranking *ranking);

void pacc_ranking_free(struct pacc_ranking *ranking);

/* How many iterations of the sequential loop a thread should have the loads of
 * under way, so that what all threads of an SM wait for keeps its port to L2
 * busy (Little's law): a power of two, 1 where the threads are enough, at most
 * 16, for which there are registers. */
uint32_t pacc_iterations_in_flight(const struct pacc_gpu *gpu,
                                   const struct pacc_work *work);

/* "l2": which term of a score is the largest. */
const char *pacc_score_bound(const struct pacc_block_score *score);

/* "32", "32x8", "32x8x2": a shape into `text`; returns `text`. */
char *pacc_block_print(const uint32_t block[3], char *text, size_t size);

/*===-- Registers from ptxas ---------------------------------------------===*/

/* What ptxas -v says about one kernel; bytes, per thread or per block. */
struct pacc_ptxas_kernel {
  char *name;
  uint32_t regs;
  uint32_t barriers;
  uint32_t smem;
  uint32_t stack;
  uint32_t spill_stores;
  uint32_t spill_loads;
};

/* kernels  in the order of ptxas's output
 * cubin    the machine code, cubin_size bytes; NULL if there is none
 * message  what ptxas wrote if it failed, or NULL
 */
struct pacc_ptxas_report {
  size_t n;
  struct pacc_ptxas_kernel *kernels;
  void *cubin;
  size_t cubin_size;
  char *message;
};

/* Path of ptxas, or NULL: $PACC_PTXAS if set (and nothing else then), else
 * $CUDA_HOME/bin, $CUDA_PATH/bin, PATH, /usr/local/cuda/bin. The caller frees
 * it. */
char *pacc_ptxas_find(void);

/* Assembles PTX text of `size` bytes for `arch` with the ptxas at `ptxas`
 * (NULL: the one pacc_ptxas_find finds), keeps the machine code and reads the
 * resources of its kernels. Lines of the source that the text names (.loc) stay
 * in the machine code. Takes at most timeout_ms milliseconds. Needs a writable
 * folder ($TMPDIR or /tmp). The report is released with pacc_ptxas_report_free,
 * also after an error. */
enum pacc_model_status pacc_ptxas_run(const char *ptxas, const char *arch,
                                      const char *ptx, size_t size,
                                      uint32_t timeout_ms,
                                      struct pacc_ptxas_report *report);

/* Reads the text that ptxas -v wrote. */
enum pacc_model_status pacc_ptxas_parse(const char *text,
                                        struct pacc_ptxas_report *report);

/* The kernel of that name, or NULL. */
const struct pacc_ptxas_kernel *
pacc_ptxas_kernel_find(const struct pacc_ptxas_report *report,
                       const char *name);

void pacc_ptxas_report_free(struct pacc_ptxas_report *report);

#ifdef __cplusplus
}
#endif
#endif

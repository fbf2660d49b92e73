/* registers.c: special registers and address space queries. The ids of thread
 * and block are not among them: generated code reads those itself. */
#include "devfn_private.h"

#include "arena.h"
#include "exec_private.h"

#include <sched.h>
#include <time.h>

struct pacc_cpu_thread *pacc_dev_self(void) { return pacc_self_current; }

static uint32_t linear_id(void) {
  return pacc_cpu_id_linear(pacc_self_current->id);
}

static uint64_t nanoseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint32_t pacc_dev_read_ptx_sreg_laneid(void) {
  return linear_id() % PACC_CPU_WARP;
}
uint32_t pacc_dev_read_ptx_sreg_warpid(void) {
  return linear_id() / PACC_CPU_WARP;
}
uint32_t pacc_dev_read_ptx_sreg_nwarpid(void) { return N_WARPS; }
uint32_t pacc_dev_read_ptx_sreg_warpsize(void) { return PACC_CPU_WARP; }
uint32_t pacc_dev_read_ptx_sreg_smid(void) { return 0; }
uint32_t pacc_dev_read_ptx_sreg_nsmid(void) { return 1; }

static uint32_t own_bit(void) { return 1u << linear_id() % PACC_CPU_WARP; }
uint32_t pacc_dev_read_ptx_sreg_lanemask_eq(void) { return own_bit(); }
uint32_t pacc_dev_read_ptx_sreg_lanemask_lt(void) { return own_bit() - 1; }
uint32_t pacc_dev_read_ptx_sreg_lanemask_le(void) {
  return own_bit() | (own_bit() - 1);
}
uint32_t pacc_dev_read_ptx_sreg_lanemask_ge(void) { return -own_bit(); }
uint32_t pacc_dev_read_ptx_sreg_lanemask_gt(void) {
  return -own_bit() & ~own_bit();
}

uint32_t pacc_dev_read_ptx_sreg_dynamic_smem_size(void) {
  return pacc_self_current->block->dynamic_shared;
}
uint32_t pacc_dev_read_ptx_sreg_total_smem_size(void) {
  return pacc_self_current->block->total_shared;
}
uint32_t pacc_dev_read_ptx_sreg_aggr_smem_size(void) {
  return pacc_self_current->block->total_shared;
}

/* One tick is a nanosecond. */
uint64_t pacc_dev_read_ptx_sreg_clock64(void) { return nanoseconds(); }
uint32_t pacc_dev_read_ptx_sreg_clock(void) { return (uint32_t)nanoseconds(); }
uint64_t pacc_dev_read_ptx_sreg_globaltimer(void) { return nanoseconds(); }
uint32_t pacc_dev_read_ptx_sreg_globaltimer_lo(void) {
  return (uint32_t)nanoseconds();
}
uint64_t pacc_dev_read_ptx_sreg_gridid(void) {
  return pacc_worker_current->launch->number;
}
/* Other threads of the block run now, other grids may, and the other blocks of
 * a resident grid, unless one has failed. */
void pacc_dev_nanosleep(uint32_t ns) {
  struct pacc_worker *worker = pacc_worker_current;
  const struct pacc_launch *launch = worker->launch;
  (void)ns;
  if (launch->resident) {
    struct pacc_fault fault = {.status = launch->status,
                               .text = "another block failed"};
    if (fault.status)
      pacc_fault_raise(&fault);
    sched_yield();
  }
  if (launch->on_pause)
    launch->on_pause(launch->owner);
  worker->fibers[worker->running].state = PACC_ASLEEP;
  pacc_block_wait(worker);
}

/* Memory of the block that CUDA keeps for itself and for cooperative groups. */
uint64_t pacc_dev_reserved_shared(void) {
  struct pacc_worker *worker = pacc_worker_current;
  worker->uses_reserved = 1;
  return (uint64_t)(uintptr_t)worker->reserved;
}

uint32_t pacc_dev_isspacep_shared(const void *p) {
  return pacc_cpu_arena_kind((uint64_t)(uintptr_t)p) == PACC_CPU_SHARED;
}
uint32_t pacc_dev_isspacep_global(const void *p) {
  int kind = pacc_cpu_arena_kind((uint64_t)(uintptr_t)p);
  return kind == PACC_CPU_MEMORY || kind == PACC_CPU_VARIABLE ||
         kind == PACC_CPU_HEAP;
}
uint32_t pacc_dev_isspacep_local(const void *p) {
  return pacc_cpu_arena_kind((uint64_t)(uintptr_t)p) == PACC_CPU_STACK;
}
uint32_t pacc_dev_isspacep_const(const void *p) {
  (void)p;
  return 0; /* constants lie in global memory here */
}

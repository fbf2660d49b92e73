/* sync.c: barriers and warp operations, used well and badly. */
#include "device.h"

#define ALL 0xffffffffu

/* Sums of 256 numbers, by halving. */
static SHARED double partial[256];
KERNEL reduction(const double *in, double *sums) {
  uint32_t t = TID_X;
  partial[t] = in[CTA_X * 256 + t];
  __syncthreads();
  for (uint32_t half = 128; half; half /= 2) {
    if (t < half)
      partial[t] += partial[t + half];
    __syncthreads();
  }
  if (t == 0)
    sums[CTA_X] = partial[0];
}

/* The same without the barriers: the result depends on the order. */
KERNEL racy_reduction(const double *in, double *sums) {
  uint32_t t = TID_X;
  partial[t] = in[CTA_X * 256 + t];
  for (uint32_t half = 128; half; half /= 2)
    if (t < half)
      partial[t] += partial[t + half];
  if (t == 0)
    sums[CTA_X] = partial[0];
}

/* The order in which threads and blocks come. */
KERNEL order(uint32_t *next, uint32_t *out) {
  out[GLOBAL_X] = __atomic_fetch_add(next, 1, __ATOMIC_RELAXED);
}

/* Barriers in a function that is not inlined, and in a loop. */
static SHARED uint32_t ring[1024];
static __attribute__((noinline)) void step(uint32_t t, uint32_t n) {
  uint32_t value = ring[(t + 1) % n];
  __syncthreads();
  ring[t] = value;
  __syncthreads();
}
KERNEL rotate(uint32_t *out, uint32_t steps) {
  ring[TID_X] = TID_X;
  __syncthreads();
  for (uint32_t i = 0; i < steps; i++)
    step(TID_X, NTID_X);
  out[GLOBAL_X] = ring[TID_X];
}

/* Threads that leave early count as arrived. */
KERNEL leave_early(uint32_t *out) {
  if (TID_X >= 40)
    return;
  ring[TID_X] = TID_X;
  __syncthreads();
  out[TID_X] = ring[39 - TID_X];
}

/* Two halves of the block at barriers of their own. */
KERNEL named_barriers(uint32_t *out) {
  uint32_t half = TID_X / 64, t = TID_X % 64;
  ring[TID_X] = TID_X;
  __nvvm_barrier_sync_cnt(half + 1, 64);
  out[TID_X] = ring[half * 64 + 63 - t];
}

KERNEL barrier_reductions(int *out) {
  int t = (int)TID_X;
  out[3 * t] = __nvvm_bar0_popc(t % 3 == 0);
  out[3 * t + 1] = __nvvm_bar0_and(t < 1000);
  out[3 * t + 2] = __nvvm_bar0_or(t == 5);
}

KERNEL shuffles(uint32_t *out) {
  uint32_t t = TID_X, *to = out + 8 * GLOBAL_X;
  to[0] = (uint32_t)__nvvm_shfl_sync_idx_i32(ALL, (int)(100 + t), 5, 31);
  to[1] = (uint32_t)__nvvm_shfl_sync_up_i32(ALL, (int)(100 + t), 3, 0);
  to[2] = (uint32_t)__nvvm_shfl_sync_down_i32(ALL, (int)(100 + t), 3, 31);
  to[3] = (uint32_t)__nvvm_shfl_sync_bfly_i32(ALL, (int)(100 + t), 1, 31);
  /* In segments of eight lanes. */
  to[4] = (uint32_t)__nvvm_shfl_sync_idx_i32(ALL, (int)(100 + t), 2, 0x181f);
  to[5] = (uint32_t)__nvvm_shfl_sync_up_i32(ALL, (int)(100 + t), 3, 0x1800);
  to[6] = (uint32_t)__nvvm_shfl_sync_down_i32(ALL, (int)(100 + t), 3, 0x181f);
  float f = __nvvm_shfl_sync_idx_f32(ALL, (float)t * 0.5f, 9, 31);
  to[7] = (uint32_t)(f * 2);
}

KERNEL votes(uint32_t *out) {
  uint32_t t = TID_X % 32, *to = out + 8 * GLOBAL_X;
  to[0] = __nvvm_vote_ballot_sync(ALL, t % 5 == 0);
  to[1] = __nvvm_vote_all_sync(ALL, t < 32);
  to[2] = __nvvm_vote_any_sync(ALL, t == 31);
  to[3] = __nvvm_vote_uni_sync(ALL, t < 7);
  to[4] = __nvvm_match_any_sync_i32(ALL, t % 3);
  int same;
  to[5] = __nvvm_match_all_sync_i32p(ALL, 7, &same);
  to[6] = (uint32_t)same;
  to[7] = __nvvm_match_all_sync_i64p(ALL, t == 3, &same) | (uint32_t)same;
}

KERNEL reductions(uint32_t *out) {
  uint32_t t = TID_X % 32, *to = out + 8 * GLOBAL_X;
  to[0] = __nvvm_redux_sync_add((int)t, ALL);
  to[1] = (uint32_t)__nvvm_redux_sync_min((int)t - 5, ALL);
  to[2] = (uint32_t)__nvvm_redux_sync_max((int)t - 5, ALL);
  to[3] = __nvvm_redux_sync_umin(t - 5, ALL);
  to[4] = __nvvm_redux_sync_umax(t - 5, ALL);
  to[5] = __nvvm_redux_sync_and((int)(t | 64), ALL);
  to[6] = __nvvm_redux_sync_or((int)t, ALL);
  to[7] = __nvvm_redux_sync_xor((int)(t * t), ALL);
}

/* Two parts of a warp, each with a mask of its own. */
KERNEL divergent_warp(uint32_t *out) {
  uint32_t t = TID_X;
  if (t % 2)
    out[t] = __nvvm_vote_ballot_sync(0xaaaaaaaau, t > 10);
  else
    out[t] = (uint32_t)__nvvm_shfl_sync_idx_i32(0x55555555u, (int)t, 4, 31);
}

KERNEL active(uint32_t *out) {
  uint32_t t = TID_X;
  if (t % 4 == 0)
    out[t] = __nvvm_activemask();
  else
    out[t] = 0;
}

KERNEL registers(uint32_t *out) {
  uint32_t t = TID_X, *to = out + 8 * t;
  to[0] = __nvvm_read_ptx_sreg_laneid();
  to[1] = __nvvm_read_ptx_sreg_warpid();
  to[2] = __nvvm_read_ptx_sreg_lanemask_eq();
  to[3] = __nvvm_read_ptx_sreg_lanemask_lt();
  to[4] = __nvvm_read_ptx_sreg_lanemask_le();
  to[5] = __nvvm_read_ptx_sreg_lanemask_gt();
  to[6] = __nvvm_read_ptx_sreg_lanemask_ge();
  to[7] = __nvvm_read_ptx_sreg_warpsize();
}

/* Half of the block waits at a barrier that the others never reach. */
KERNEL deadlock(void) {
  if (TID_X < 32)
    __nvvm_barrier_sync_cnt(1, 64);
  else
    __nvvm_barrier_sync_cnt(2, 64);
}

KERNEL warp_deadlock(uint32_t *out) {
  if (TID_X < 16)
    out[TID_X] = __nvvm_vote_ballot_sync(ALL, 1);
  else
    __nvvm_bar_warp_sync(ALL);
}

/* Both sides of a branch within a warp have a barrier. */
KERNEL divergent_barrier(uint32_t *out) {
  if (TID_X % 2) {
    out[TID_X] = 1;
    __syncthreads();
    out[TID_X] += 2;
  } else {
    out[TID_X] = 5;
    __syncthreads();
    out[TID_X] += 7;
  }
}

KERNEL not_in_mask(uint32_t *out) {
  out[TID_X] = __nvvm_vote_ballot_sync(0xffff0000u, 1);
}

KERNEL odd_count(void) { __nvvm_barrier_sync_cnt(1, 33); }

KERNEL no_such_barrier(uint32_t number) { __nvvm_barrier_sync_cnt(number, 32); }

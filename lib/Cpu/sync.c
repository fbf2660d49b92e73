/* sync.c: barriers and warp operations of the running block.
 *
 * A thread that has to wait changes its state and switches to the scheduler;
 * the last one to arrive computes everyone's result and makes them ready.
 * Threads that have ended count as arrived, as on GPUs since sm_70. */
#include "exec_private.h"

#include "arena.h"
#include "devfn_private.h"

#include <string.h>

#define NOBODY UINT32_MAX

/* pacc_dev_barrier's first argument. Or-ed with BARRIER_ALIGNED where all
 * lanes of a warp must meet at the same barrier instruction. */
enum {
  BARRIER_SYNC,
  BARRIER_ARRIVE,
  BARRIER_POPC,
  BARRIER_AND,
  BARRIER_OR,
  BARRIER_ALIGNED = 8,
};

enum warp_op {
  WARP_SYNC,
  WARP_ELECT,
  WARP_ALL,
  WARP_ANY,
  WARP_UNI,
  WARP_BALLOT,
  WARP_MATCH_ANY,
  WARP_MATCH_ALL,
  WARP_IDX,
  WARP_UP,
  WARP_DOWN,
  WARP_BFLY,
  WARP_ADD,
  WARP_MIN,
  WARP_MAX,
  WARP_UMIN,
  WARP_UMAX,
  WARP_AND,
  WARP_OR,
  WARP_XOR,
};

void pacc_sync_begin(struct pacc_worker *worker) {
  uint32_t n = worker->launch->n_threads;
  worker->busy_barriers = 0;
  for (uint32_t i = 0; i * PACC_CPU_WARP < n; i++) {
    uint32_t left = n - i * PACC_CPU_WARP;
    struct pacc_warp *warp = &worker->warps[i];
    warp->lanes = left >= PACC_CPU_WARP ? ~0u : (1u << left) - 1;
    warp->exited = ~warp->lanes;
    warp->n_groups = 0;
  }
}

static _Noreturn void misuse(const char *text, uint32_t number) {
  struct pacc_fault fault = {
      .status = PACC_CPU_ERROR_INVALID_SYNC, .text = text, .number = number};
  pacc_fault_raise(&fault);
}

/* -- Barriers -- */

static uint64_t barrier_result(const struct pacc_barrier *barrier) {
  switch (barrier->op) {
  case BARRIER_POPC:
    return barrier->n_true;
  case BARRIER_AND:
    return barrier->n_true == barrier->arrived;
  case BARRIER_OR:
    return barrier->n_true != 0;
  default:
    return 0;
  }
}

static int barrier_complete(const struct pacc_worker *worker,
                            const struct pacc_barrier *barrier) {
  uint32_t expected = barrier->expected ? barrier->expected : worker->n_alive;
  return barrier->arrived >= expected;
}

static void barrier_release(struct pacc_worker *worker, uint32_t number) {
  struct pacc_barrier *barrier = &worker->barriers[number];
  uint64_t result = barrier_result(barrier);
  uint32_t linear = barrier->first_waiter;
  while (linear != NOBODY) {
    struct pacc_fiber *fiber = &worker->fibers[linear];
    fiber->result = result;
    fiber->state = PACC_READY;
    linear = fiber->next_waiter;
  }
  worker->busy_barriers &= ~(1u << number);
}

uint32_t pacc_dev_barrier(uint32_t flags, uint32_t number, uint32_t count,
                          uint32_t predicate, uint32_t site) {
  struct pacc_worker *worker = pacc_worker_current;
  uint32_t linear = worker->running, op = flags & ~(uint32_t)BARRIER_ALIGNED;
  if (number >= N_BARRIERS)
    misuse("barrier %u, but there are only barriers 0 to 15", number);
  if (count % PACC_CPU_WARP)
    misuse("a barrier for %u threads, which is no multiple of the warp size",
           count);
  struct pacc_barrier *barrier = &worker->barriers[number];
  if (!(worker->busy_barriers >> number & 1)) {
    worker->busy_barriers |= 1u << number;
    *barrier = (struct pacc_barrier){.expected = count,
                                     .op = op == BARRIER_ARRIVE ? 0 : op,
                                     .first_waiter = NOBODY};
  }
  if (barrier->expected != count)
    misuse("threads wait at barrier %u with different thread counts", number);
  if (op != BARRIER_ARRIVE && barrier->op != op) {
    if (barrier->first_waiter != NOBODY)
      misuse("threads meet at barrier %u in different operations", number);
    barrier->op = op;
  }
  uint32_t *seen = &barrier->site[linear / PACC_CPU_WARP];
  if (flags & BARRIER_ALIGNED) {
    if (*seen && *seen != site) {
      struct pacc_fault fault = {.status = PACC_CPU_ERROR_BARRIER_DIVERGENCE,
                                 .number = number};
      pacc_fault_raise(&fault);
    }
    *seen = site;
  }
  barrier->arrived++;
  barrier->n_true += predicate != 0;
  if (barrier_complete(worker, barrier)) {
    barrier_release(worker, number);
    return (uint32_t)barrier_result(barrier);
  }
  if (op == BARRIER_ARRIVE)
    return 0;
  struct pacc_fiber *fiber = &worker->fibers[linear];
  fiber->state = PACC_AT_BARRIER;
  fiber->what = number;
  fiber->next_waiter = barrier->first_waiter;
  barrier->first_waiter = linear;
  pacc_block_wait(worker);
  return (uint32_t)fiber->result;
}

/* -- Warps -- */

static struct pacc_fiber *lane_fiber(struct pacc_worker *worker, uint32_t warp,
                                     uint32_t lane) {
  return &worker->fibers[warp * PACC_CPU_WARP + lane];
}

static uint32_t lowest_lane(uint32_t mask) {
  return (uint32_t)__builtin_ctz(mask);
}

/* Where a shuffle reads from: PTX ISA, shfl.sync. -1: its own value. */
static int shuffle_source(uint32_t op, uint32_t lane, uint64_t extra) {
  uint32_t b = extra & 31, clamp = extra >> 32 & 31;
  uint32_t segment = extra >> 40 & 31;
  uint32_t first = lane & segment, last = first | (clamp & ~segment);
  int source = (int)lane;
  switch (op) {
  case WARP_UP:
    source -= (int)b;
    return source >= (int)last ? source : -1;
  case WARP_DOWN:
    source += (int)b;
    break;
  case WARP_BFLY:
    source ^= (int)b;
    break;
  default:
    source = (int)(first | (b & ~segment));
    break;
  }
  return source <= (int)last ? source : -1;
}

static uint32_t reduce(uint32_t op, uint32_t a, uint32_t b) {
  switch (op) {
  case WARP_ADD:
    return a + b;
  case WARP_MIN:
    return (int32_t)a < (int32_t)b ? a : b;
  case WARP_MAX:
    return (int32_t)a > (int32_t)b ? a : b;
  case WARP_UMIN:
    return a < b ? a : b;
  case WARP_UMAX:
    return a > b ? a : b;
  case WARP_AND:
    return a & b;
  case WARP_OR:
    return a | b;
  default:
    return a ^ b;
  }
}

static const uint64_t predicate_bit = 1ull << 32;

/* The result of a lane's shuffle. A lane that takes no part has no value:
 * what is read from it is a pattern, no plausible number. */
static uint64_t shuffle(struct pacc_worker *worker, uint32_t warp,
                        const struct pacc_group *group, uint32_t lane) {
  const struct pacc_fiber *own = lane_fiber(worker, warp, lane);
  int source = shuffle_source(group->op, lane, own->extra);
  if (source < 0)
    return own->input;
  if (!(group->arrived >> source & 1))
    return 0x7fa5a5a5u | predicate_bit;
  return lane_fiber(worker, warp, (uint32_t)source)->input | predicate_bit;
}

/* Sets the results of all lanes that came. */
static void group_compute(struct pacc_worker *worker, uint32_t warp,
                          const struct pacc_group *group) {
  uint32_t ballot = 0, same = 0, folded = 0,
           first = lowest_lane(group->arrived);
  uint64_t first_input = lane_fiber(worker, warp, first)->input;
  for (uint32_t rest = group->arrived; rest; rest &= rest - 1) {
    uint32_t lane = lowest_lane(rest);
    uint64_t input = lane_fiber(worker, warp, lane)->input;
    ballot |= (uint32_t)(input != 0) << lane;
    same |= (uint32_t)(input == first_input) << lane;
    folded = lane == first ? (uint32_t)input
                           : reduce(group->op, folded, (uint32_t)input);
  }
  for (uint32_t rest = group->arrived; rest; rest &= rest - 1) {
    uint32_t lane = lowest_lane(rest);
    struct pacc_fiber *fiber = lane_fiber(worker, warp, lane);
    switch (group->op) {
    case WARP_SYNC:
      break;
    case WARP_ELECT:
      fiber->result = first | (lane == first ? predicate_bit : 0);
      break;
    case WARP_ALL:
      fiber->result = ballot == group->arrived;
      break;
    case WARP_ANY:
      fiber->result = ballot != 0;
      break;
    case WARP_UNI:
      fiber->result = ballot == 0 || ballot == group->arrived;
      break;
    case WARP_BALLOT:
      fiber->result = ballot;
      break;
    case WARP_MATCH_ANY: {
      uint32_t mask = 0;
      for (uint32_t other = group->arrived; other; other &= other - 1)
        if (lane_fiber(worker, warp, lowest_lane(other))->input == fiber->input)
          mask |= other & -other;
      fiber->result = mask;
      break;
    }
    case WARP_MATCH_ALL:
      fiber->result =
          same == group->arrived ? group->arrived | predicate_bit : 0;
      break;
    case WARP_IDX:
    case WARP_UP:
    case WARP_DOWN:
    case WARP_BFLY:
      fiber->result = shuffle(worker, warp, group, lane);
      break;
    default:
      fiber->result = folded;
      break;
    }
  }
}

/* Completes a group if all its lanes have come or ended; 1 if so. */
static int group_try(struct pacc_worker *worker, uint32_t warp_number,
                     uint32_t index) {
  struct pacc_warp *warp = &worker->warps[warp_number];
  struct pacc_group *group = &warp->groups[index];
  if (((group->arrived | warp->exited) & group->mask) != group->mask)
    return 0;
  group_compute(worker, warp_number, group);
  for (uint32_t rest = group->arrived; rest; rest &= rest - 1)
    lane_fiber(worker, warp_number, lowest_lane(rest))->state = PACC_READY;
  *group = warp->groups[--warp->n_groups];
  return 1;
}

/* Waits for the lanes of `mask` to come to the same operation. */
static uint64_t collective(enum warp_op op, uint32_t mask, uint64_t input,
                           uint64_t extra) {
  struct pacc_worker *worker = pacc_worker_current;
  uint32_t linear = worker->running;
  uint32_t warp_number = linear / PACC_CPU_WARP, lane = linear % PACC_CPU_WARP;
  struct pacc_warp *warp = &worker->warps[warp_number];
  struct pacc_fiber *fiber = &worker->fibers[linear];
  if (!(mask >> lane & 1))
    misuse("a warp operation with the mask 0x%08x, which lacks the lane itself",
           mask);
  fiber->input = input;
  fiber->extra = extra;
  fiber->what = mask;
  uint32_t i = 0;
  while (i < warp->n_groups &&
         (warp->groups[i].mask != mask || warp->groups[i].op != op))
    i++;
  if (i == warp->n_groups)
    warp->groups[warp->n_groups++] = (struct pacc_group){mask, op, 0};
  warp->groups[i].arrived |= 1u << lane;
  if (!group_try(worker, warp_number, i)) {
    fiber->state = PACC_IN_WARP;
    pacc_block_wait(worker);
  }
  return fiber->result;
}

void pacc_sync_exit(struct pacc_worker *worker, uint32_t linear) {
  worker->n_alive--;
  for (uint32_t busy = worker->busy_barriers; busy; busy &= busy - 1) {
    uint32_t number = lowest_lane(busy);
    if (!worker->barriers[number].expected &&
        barrier_complete(worker, &worker->barriers[number]))
      barrier_release(worker, number);
  }
  uint32_t warp_number = linear / PACC_CPU_WARP;
  struct pacc_warp *warp = &worker->warps[warp_number];
  warp->exited |= 1u << linear % PACC_CPU_WARP;
  for (uint32_t i = 0; i < warp->n_groups;)
    i += !group_try(worker, warp_number, i);
}

/* Which lanes are together is for the hardware to say. Here it is all lanes
 * of the warp that ask at the same place before the block can't go on, or only
 * by threads that sleep. */
uint32_t pacc_dev_activemask(uint32_t site) {
  struct pacc_worker *worker = pacc_worker_current;
  struct pacc_fiber *fiber = &worker->fibers[worker->running];
  fiber->state = PACC_AT_ACTIVEMASK;
  fiber->what = site;
  pacc_block_wait(worker);
  return (uint32_t)fiber->result;
}

int pacc_sync_release_active(struct pacc_worker *worker) {
  uint32_t first = 0;
  while (first < worker->n_listed &&
         worker->fibers[pacc_cpu_id_linear(worker->order[first])].state !=
             PACC_AT_ACTIVEMASK)
    first++;
  if (first == worker->n_listed)
    return 0;
  uint32_t linear = pacc_cpu_id_linear(worker->order[first]);
  uint32_t warp = linear / PACC_CPU_WARP, mask = 0;
  uint32_t site = worker->fibers[linear].what;
  for (uint32_t rest = worker->warps[warp].lanes; rest; rest &= rest - 1) {
    const struct pacc_fiber *f = lane_fiber(worker, warp, lowest_lane(rest));
    if (f->state == PACC_AT_ACTIVEMASK && f->what == site)
      mask |= rest & -rest;
  }
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    struct pacc_fiber *fiber = lane_fiber(worker, warp, lowest_lane(rest));
    fiber->result = mask;
    fiber->state = PACC_READY;
  }
  return 1;
}

void pacc_dev_bar_warp_sync(uint32_t mask) {
  collective(WARP_SYNC, mask, 0, 0);
}
uint64_t pacc_dev_elect_sync(uint32_t mask) {
  return collective(WARP_ELECT, mask, 0, 0);
}

#define VOTE(name, op)                                                         \
  uint32_t pacc_dev_vote_##name##_sync(uint32_t mask, uint32_t predicate) {    \
    return (uint32_t)collective(op, mask, predicate, 0);                       \
  }
VOTE(all, WARP_ALL)
VOTE(any, WARP_ANY)
VOTE(uni, WARP_UNI)
VOTE(ballot, WARP_BALLOT)

uint32_t pacc_dev_ballot_alike(uint32_t value, uint32_t bits) {
  uint32_t set = value & bits;
  uint32_t ballot = (uint32_t)collective(WARP_BALLOT, UINT32_MAX, set, 0);
  return set ? ballot : ~ballot;
}

uint32_t pacc_dev_match_any_sync_i32(uint32_t mask, uint32_t value) {
  return (uint32_t)collective(WARP_MATCH_ANY, mask, value, 0);
}
uint32_t pacc_dev_match_any_sync_i64(uint32_t mask, uint64_t value) {
  return (uint32_t)collective(WARP_MATCH_ANY, mask, value, 0);
}
uint64_t pacc_dev_match_all_sync_i32p(uint32_t mask, uint32_t value) {
  return collective(WARP_MATCH_ALL, mask, value, 0);
}
uint64_t pacc_dev_match_all_sync_i64p(uint32_t mask, uint64_t value) {
  return collective(WARP_MATCH_ALL, mask, value, 0);
}

static uint32_t bits_of(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof(bits));
  return bits;
}
static float float_of(uint32_t bits) {
  float x;
  memcpy(&x, &bits, sizeof(x));
  return x;
}

#define SHUFFLE(name, op)                                                      \
  uint64_t pacc_dev_shfl_sync_##name##_i32p(uint32_t mask, uint32_t value,     \
                                            uint32_t b, uint32_t c) {          \
    return collective(op, mask, value, (uint64_t)c << 32 | b);                 \
  }                                                                            \
  uint32_t pacc_dev_shfl_sync_##name##_i32(uint32_t mask, uint32_t value,      \
                                           uint32_t b, uint32_t c) {           \
    return (uint32_t)pacc_dev_shfl_sync_##name##_i32p(mask, value, b, c);      \
  }                                                                            \
  uint64_t pacc_dev_shfl_sync_##name##_f32p(uint32_t mask, float value,        \
                                            uint32_t b, uint32_t c) {          \
    return pacc_dev_shfl_sync_##name##_i32p(mask, bits_of(value), b, c);       \
  }                                                                            \
  float pacc_dev_shfl_sync_##name##_f32(uint32_t mask, float value,            \
                                        uint32_t b, uint32_t c) {              \
    return float_of(                                                           \
        pacc_dev_shfl_sync_##name##_i32(mask, bits_of(value), b, c));          \
  }
SHUFFLE(idx, WARP_IDX)
SHUFFLE(up, WARP_UP)
SHUFFLE(down, WARP_DOWN)
SHUFFLE(bfly, WARP_BFLY)

/* A shuffle of 64 bits in two halves; *read says whether a lane was read. */
static uint64_t shuffle_wide(enum warp_op op, uint32_t mask, uint64_t value,
                             uint64_t extra, int *read) {
  uint64_t low = collective(op, mask, (uint32_t)value, extra);
  uint64_t high = collective(op, mask, value >> 32, extra);
  *read = (low & predicate_bit) != 0;
  return high << 32 | (uint32_t)low;
}

#define SHUFFLE_B32(name, op)                                                  \
  uint32_t pacc_dev_shfl_##name##_b32(uint32_t value, uint32_t b, uint32_t c,  \
                                      uint32_t mask) {                         \
    return (uint32_t)collective(op, mask, value, (uint64_t)c << 32 | b);       \
  }
SHUFFLE_B32(idx, WARP_IDX)
SHUFFLE_B32(up, WARP_UP)
SHUFFLE_B32(down, WARP_DOWN)
SHUFFLE_B32(bfly, WARP_BFLY)

#define SHUFFLE_ADD(name, op)                                                  \
  uint32_t pacc_dev_shfl_##name##_add_i32(uint32_t value, uint32_t b,          \
                                          uint32_t c, uint32_t mask) {         \
    uint64_t got = collective(op, mask, value, (uint64_t)c << 32 | b);         \
    return (uint32_t)got + (got & predicate_bit ? value : 0);                  \
  }                                                                            \
  float pacc_dev_shfl_##name##_add_f32(float value, uint32_t b, uint32_t c,    \
                                       uint32_t mask) {                        \
    uint64_t got =                                                             \
        collective(op, mask, bits_of(value), (uint64_t)c << 32 | b);           \
    return got & predicate_bit ? float_of((uint32_t)got) + value : value;      \
  }                                                                            \
  uint64_t pacc_dev_shfl_##name##_add_i64(uint64_t value, uint32_t b,          \
                                          uint32_t c, uint32_t mask) {         \
    int read;                                                                  \
    uint64_t got =                                                             \
        shuffle_wide(op, mask, value, (uint64_t)c << 32 | b, &read);           \
    return read ? got + value : got;                                           \
  }                                                                            \
  double pacc_dev_shfl_##name##_add_f64(double value, uint32_t b, uint32_t c,  \
                                        uint32_t mask) {                       \
    uint64_t bits;                                                             \
    double other;                                                              \
    int read;                                                                  \
    memcpy(&bits, &value, sizeof(bits));                                       \
    bits = shuffle_wide(op, mask, bits, (uint64_t)c << 32 | b, &read);         \
    memcpy(&other, &bits, sizeof(other));                                      \
    return read ? value + other : value;                                       \
  }
SHUFFLE_ADD(up, WARP_UP)
SHUFFLE_ADD(down, WARP_DOWN)

#define REDUX(name, op)                                                        \
  uint32_t pacc_dev_redux_sync_##name(uint32_t value, uint32_t mask) {         \
    return (uint32_t)collective(op, mask, value, 0);                           \
  }
REDUX(add, WARP_ADD)
REDUX(min, WARP_MIN)
REDUX(max, WARP_MAX)
REDUX(umin, WARP_UMIN)
REDUX(umax, WARP_UMAX)
REDUX(and, WARP_AND)
REDUX(or, WARP_OR)
REDUX(xor, WARP_XOR)

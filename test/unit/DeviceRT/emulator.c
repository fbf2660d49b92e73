/* emulator.c: see emulator.h. Threads are fibers: made by makecontext, but
 * switched by longjmp, which saves the system calls. */
#include "emulator.h"
#include "gpuintrin.h"

#include <assert.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#define STACK_BYTES 65536u
#define PARAMETER_BYTES 4096u

enum state { RUNNABLE, AT_MASK, AT_WARP_OPERATION, AT_BARRIER, DONE };
enum operation { OP_SHUFFLE, OP_BALLOT, OP_SYNC };

struct grid;
struct block;

struct thread {
  ucontext_t context; /* Where it starts. */
  jmp_buf jump;       /* Where it goes on. */
  bool started;
  void *stack;
  struct block *block;
  struct emu_dim3 id;
  uint32_t lane;
  uint32_t warp;
  enum state state;
  /* The operation that it waits for. */
  const void *place;
  enum operation operation;
  uint32_t mask;
  uint32_t value;
  uint32_t source;
  uint32_t result;
  bool vote; /* at a barrier */
};

struct block {
  struct grid *grid;
  struct emu_dim3 id;
  uint64_t number;
  uint32_t threads;
  uint32_t live;
  bool any; /* of the votes at the last barrier */
  struct thread *thread;
  unsigned char *shared;
};

struct grid {
  struct grid *next;
  struct grid *parent;
  uint64_t number;
  emu_kernel *kernel;
  unsigned char parameters[PARAMETER_BYTES];
  struct emu_dim3 size;
  struct emu_dim3 block;
  uint64_t stream; /* 0: none */
  uint64_t started;
  uint64_t finished;
  uint64_t children; /* Not complete; without tails. */
  uint64_t tails;
  bool is_tail;
};

static struct emu_options options;
static struct emu_counts counts;
static uint64_t random_state;
static uint64_t ticks;
static uint64_t numbers;
static struct grid *grids; /* Not complete, oldest first. */
static bool grids_changed;
static struct block *blocks[64];
static uint32_t resident;
static struct thread *current;
static jmp_buf scheduler;
static void *free_stacks[65536];
static uint32_t free_stack_count;

extern unsigned char __start_pacc_shared[];
extern unsigned char __stop_pacc_shared[];

static uint32_t random_below(uint32_t bound) {
  random_state = random_state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)((random_state >> 33) % bound);
}

static uint64_t volume(struct emu_dim3 size) {
  return (uint64_t)size.x * size.y * size.z;
}

static struct emu_dim3 unfold(uint64_t index, struct emu_dim3 size) {
  struct emu_dim3 result = {(uint32_t)(index % size.x),
                            (uint32_t)(index / size.x % size.y),
                            (uint32_t)(index / size.x / size.y)};
  return result;
}

/* Grids and streams */

static struct grid *grid_create(emu_kernel *kernel, struct emu_dim3 size,
                                struct emu_dim3 block) {
  struct grid *grid = calloc(1, sizeof *grid);
  grid->number = ++numbers;
  grid->kernel = kernel;
  grid->size = size;
  grid->block = block;
  struct grid **at = &grids;
  while (*at)
    at = &(*at)->next;
  *at = grid;
  grids_changed = true;
  return grid;
}

static uint32_t grids_waiting(void) {
  uint32_t count = 0;
  for (const struct grid *grid = grids; grid; grid = grid->next)
    count += grid->started == 0;
  return count;
}

static bool grid_may_start(const struct grid *grid) {
  if (grid->started == volume(grid->size))
    return false;
  if (grid->is_tail) {
    const struct grid *parent = grid->parent;
    if (parent->finished < volume(parent->size) || parent->children)
      return false;
    for (const struct grid *other = grids; other != grid; other = other->next)
      if (other->is_tail && other->parent == parent)
        return false;
  }
  if (grid->stream)
    for (const struct grid *other = grids; other != grid; other = other->next)
      if (other->stream == grid->stream)
        return false;
  return true;
}

static void grids_retire(void) {
  grids_changed = true;
  for (struct grid **at = &grids; *at;) {
    struct grid *grid = *at;
    if (grid->finished < volume(grid->size) || grid->children || grid->tails) {
      at = &grid->next;
      continue;
    }
    *at = grid->next;
    if (grid->is_tail)
      --grid->parent->tails;
    else if (grid->parent)
      --grid->parent->children;
    free(grid);
    at = &grids; /* The parent may stand before it. */
  }
}

/* Threads */

static void thread_main(void) {
  struct grid *grid = current->block->grid;
  grid->kernel(grid->parameters);
  current->state = DONE;
  _longjmp(scheduler, 1);
}

static void block_start(struct grid *grid) {
  struct block *block = calloc(1, sizeof *block);
  block->grid = grid;
  block->id = unfold(grid->started++, grid->size);
  block->number = ++numbers;
  block->threads = block->live = (uint32_t)volume(grid->block);
  block->thread = calloc(block->threads, sizeof *block->thread);
  block->shared = malloc((size_t)(__stop_pacc_shared - __start_pacc_shared));
  memset(block->shared, 0xa5,
         (size_t)(__stop_pacc_shared - __start_pacc_shared));
  for (uint32_t i = 0; i < block->threads; ++i) {
    struct thread *thread = &block->thread[i];
    thread->block = block;
    thread->id = unfold(i, grid->block);
    thread->lane = i % 32;
    thread->warp = i / 32;
    thread->stack = free_stack_count ? free_stacks[--free_stack_count]
                                     : malloc(STACK_BYTES);
    getcontext(&thread->context);
    thread->context.uc_stack.ss_sp = thread->stack;
    thread->context.uc_stack.ss_size = STACK_BYTES;
    makecontext(&thread->context, thread_main, 0);
  }
  blocks[resident++] = block;
}

static void block_finish(uint32_t index) {
  struct block *block = blocks[index];
  ++block->grid->finished;
  free(block->shared);
  free(block->thread);
  free(block);
  blocks[index] = blocks[--resident];
  grids_retire();
}

static void thread_run(struct thread *thread) {
  const size_t bytes = (size_t)(__stop_pacc_shared - __start_pacc_shared);
  memcpy(__start_pacc_shared, thread->block->shared, bytes);
  current = thread;
  ++ticks;
  if (_setjmp(scheduler) == 0) {
    if (thread->started)
      _longjmp(thread->jump, 1);
    thread->started = true;
    setcontext(&thread->context);
  }
  thread = current;
  current = 0;
  memcpy(thread->block->shared, __start_pacc_shared, bytes);
  if (thread->state == DONE) {
    free_stacks[free_stack_count++] = thread->stack;
    --thread->block->live;
  }
}

static void park(enum state state) {
  current->state = state;
  if (_setjmp(current->jump) == 0)
    _longjmp(scheduler, 1);
}

void emu_yield(void) {
  if (random_below(8) == 0)
    park(RUNNABLE);
}

void __nvvm_nanosleep(uint32_t ns) {
  (void)ns;
  park(RUNNABLE);
}

/* Warps */

static struct thread *lane_of(const struct thread *of, uint32_t lane) {
  uint32_t index = of->warp * 32 + lane;
  return index < of->block->threads ? &of->block->thread[index] : 0;
}

/* Lets lanes go that wait for their mask at the same place: all of them, or
 * some, as hardware may. */
static void mask_release(struct thread *first) {
  bool split = random_below(8) == 0;
  uint32_t mask = 0;
  for (uint32_t lane = 0; lane < 32; ++lane) {
    struct thread *other = lane_of(first, lane);
    if (other && other->state == AT_MASK && other->place == first->place &&
        (other == first || !split || random_below(2)))
      mask |= 1u << lane;
  }
  for (uint32_t lane = 0; lane < 32; ++lane)
    if (mask >> lane & 1) {
      struct thread *other = lane_of(first, lane);
      other->result = mask;
      other->state = RUNNABLE;
    }
}

__attribute__((noinline)) uint64_t __gpu_lane_mask(void) {
  current->place = __builtin_return_address(0);
  park(AT_MASK);
  return current->result;
}

/* The last lane to come computes the results of all. */
static uint32_t warp_operation(enum operation operation, uint32_t mask,
                               uint32_t value, uint32_t source) {
  assert(mask >> current->lane & 1 && "a lane outside its own mask");
  current->operation = operation;
  current->mask = mask;
  current->value = value;
  current->source = source;
  current->state = AT_WARP_OPERATION;
  uint32_t ballot = 0;
  for (uint32_t lane = 0; lane < 32; ++lane) {
    if (!(mask >> lane & 1))
      continue;
    struct thread *other = lane_of(current, lane);
    assert(other && other->state != DONE && "the mask has a lane that is gone");
    /* It may still be at an operation of lanes that this one is not among. */
    if (other->state != AT_WARP_OPERATION ||
        !(other->mask >> current->lane & 1)) {
      park(AT_WARP_OPERATION);
      return current->result;
    }
    assert(other->mask == mask && other->operation == operation &&
           "lanes of a mask are at different operations");
    ballot |= other->value ? 1u << lane : 0;
  }
  for (uint32_t lane = 0; lane < 32; ++lane) {
    if (!(mask >> lane & 1))
      continue;
    struct thread *other = lane_of(current, lane);
    if (operation == OP_BALLOT)
      other->result = ballot;
    if (operation == OP_SHUFFLE) {
      assert(mask >> other->source & 1 && "a shuffle from outside the mask");
      other->result = lane_of(current, other->source)->value;
    }
    other->state = RUNNABLE;
  }
  return current->result;
}

int __nvvm_shfl_sync_idx_i32(uint32_t mask, int value, int lane, int clamp) {
  (void)clamp;
  return (int)warp_operation(OP_SHUFFLE, mask, (uint32_t)value,
                             (uint32_t)lane & 31);
}

int __nvvm_shfl_sync_up_i32(uint32_t mask, int value, int step, int first) {
  (void)first;
  uint32_t self = __gpu_lane_id();
  uint32_t from = self >= (uint32_t)step ? self - (uint32_t)step : self;
  return (int)warp_operation(OP_SHUFFLE, mask, (uint32_t)value, from);
}

uint64_t __gpu_ballot(uint64_t mask, bool value) {
  return warp_operation(OP_BALLOT, (uint32_t)mask, value, 0);
}

void __gpu_sync_lane(uint64_t mask) {
  warp_operation(OP_SYNC, (uint32_t)mask, 0, 0);
}

void __gpu_sync_threads(void) { park(AT_BARRIER); }

bool pacc_barrier_any(int32_t number, bool value) {
  (void)number;
  current->vote = value;
  park(AT_BARRIER);
  current->vote = false;
  return current->block->any;
}

static void barrier_release(struct block *block) {
  for (uint32_t i = 0; i < block->threads; ++i)
    if (block->thread[i].state != AT_BARRIER && block->thread[i].state != DONE)
      return;
  block->any = false;
  for (uint32_t i = 0; i < block->threads; ++i)
    if (block->thread[i].state == AT_BARRIER) {
      block->any |= block->thread[i].vote;
      block->thread[i].state = RUNNABLE;
    }
}

/* Registers */

struct emu_dim3 emu_thread(void) { return current->id; }
struct emu_dim3 emu_block_size(void) { return current->block->grid->block; }
struct emu_dim3 emu_block(void) { return current->block->id; }
struct emu_dim3 emu_grid_size(void) { return current->block->grid->size; }
uint64_t emu_tick(void) { return ticks; }

uint32_t __gpu_thread_id_x(void) { return current->id.x; }
uint32_t __gpu_thread_id_y(void) { return current->id.y; }
uint32_t __gpu_thread_id_z(void) { return current->id.z; }
uint32_t __gpu_num_threads_x(void) { return emu_block_size().x; }
uint32_t __gpu_num_threads_y(void) { return emu_block_size().y; }
uint32_t __gpu_num_threads_z(void) { return emu_block_size().z; }
uint32_t __gpu_block_id_x(void) { return current->block->id.x; }
uint32_t __gpu_num_blocks_x(void) { return emu_grid_size().x; }
uint32_t __gpu_num_blocks_y(void) { return emu_grid_size().y; }
uint32_t __gpu_num_blocks_z(void) { return emu_grid_size().z; }
uint32_t __gpu_lane_id(void) { return current->lane; }
uint64_t __gpu_grid_number(void) { return current->block->grid->number; }

/* CUDA's device runtime */

void *__cudaCDP2GetParameterBufferV2(void *kernel, struct emu_dim3 grid,
                                     struct emu_dim3 block, uint32_t shared);
uint32_t __cudaCDP2LaunchDeviceV2(void *buffer, void *stream);

/* A buffer knows what it is for. */
struct buffer {
  unsigned char bytes[PARAMETER_BYTES];
  void *kernel;
  struct emu_dim3 grid;
  struct emu_dim3 block;
};

void *__cudaCDP2GetParameterBufferV2(void *kernel, struct emu_dim3 grid,
                                     struct emu_dim3 block, uint32_t shared) {
  (void)shared;
  struct buffer *buffer = malloc(sizeof *buffer);
  assert(buffer && "out of memory");
  buffer->kernel = kernel;
  buffer->grid = grid;
  buffer->block = block;
  return buffer->bytes;
}

uint32_t __cudaCDP2LaunchDeviceV2(void *bytes, void *stream) {
  struct buffer *buffer = bytes;
  void *kernel = buffer->kernel;
  struct emu_dim3 size = buffer->grid;
  struct emu_dim3 block = buffer->block;
  bool legal = volume(size) > 0 && size.x <= 0x7fffffff && size.y <= 65535 &&
               size.z <= 65535 && volume(block) > 0 && volume(block) <= 1024 &&
               block.z <= 64;
  bool refuse = kernel == (void *)(uintptr_t)options.fails &&
                random_below(100) < options.failures;
  if (!legal || refuse) {
    ++counts.refused;
    free(buffer);
    return 9;
  }
  if (options.pending && grids_waiting() >= options.pending) {
    ++counts.no_room;
    free(buffer);
    return 69;
  }
  ++counts.launches;
  struct grid *grid = grid_create((emu_kernel *)(uintptr_t)kernel, size, block);
  memcpy(grid->parameters, buffer->bytes, PARAMETER_BYTES);
  free(buffer);
  grid->parent = current->block->grid;
  grid->is_tail = stream == (void *)3;
  if (grid->is_tail)
    ++grid->parent->tails;
  else
    ++grid->parent->children;
  if (stream == 0)
    grid->stream = current->block->number << 11;
  else if (stream == (void *)2)
    grid->stream =
        current->block->number << 11 | (current->warp * 32 + current->lane + 1);
  else
    assert((stream == (void *)3 || stream == (void *)4) &&
           "no other streams here");
  return 0;
}

/* The scheduler */

static struct thread *random_thread(enum state state) {
  for (uint32_t tries = 0; tries < 64; ++tries) {
    struct block *block = blocks[random_below(resident)];
    struct thread *thread = &block->thread[random_below(block->threads)];
    if (thread->state == state)
      return thread;
  }
  uint32_t first = random_below(resident);
  for (uint32_t b = 0; b < resident; ++b) {
    struct block *block = blocks[(first + b) % resident];
    for (uint32_t i = 0; i < block->threads; ++i)
      if (block->thread[i].state == state)
        return &block->thread[i];
  }
  return 0;
}

static void start_blocks(void) {
  if (!grids_changed)
    return;
  grids_changed = false;
  while (resident < options.resident) {
    struct grid *ready[8];
    uint32_t count = 0;
    for (struct grid *grid = grids; grid && count < 8; grid = grid->next)
      if (grid_may_start(grid))
        ready[count++] = grid;
    if (!count)
      return;
    block_start(ready[random_below(count)]);
  }
}

struct emu_counts emu_run(const struct emu_options *with, emu_kernel *kernel,
                          const void *parameters, uint32_t bytes,
                          struct emu_dim3 size, struct emu_dim3 block) {
  options = *with;
  counts = (struct emu_counts){0, 0, 0};
  random_state = options.seed * 2 + 1;
  struct grid *first = grid_create(kernel, size, block);
  memcpy(first->parameters, parameters, bytes);
  while (grids) {
    start_blocks();
    /* Masks are given out when nothing else runs, and at times before. */
    struct thread *thread = random_thread(RUNNABLE);
    if (!thread || random_below(32) == 0) {
      struct thread *masked = random_thread(AT_MASK);
      assert((thread || masked) && "all threads wait: a deadlock");
      if (masked) {
        mask_release(masked);
        continue;
      }
    }
    struct block *of = thread->block;
    thread_run(thread);
    barrier_release(of);
    if (of->live == 0)
      for (uint32_t b = 0; b < resident; ++b)
        if (blocks[b] == of) {
          block_finish(b);
          break;
        }
  }
  return counts;
}

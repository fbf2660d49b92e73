/* barrier.c: a barrier over all blocks of a grid that are all resident, for
 * kernels that run a loop of launches (lib/Plugin/Offload/LoopCode.cpp).
 *
 * One word counts, and is 0 before the first kernel that uses it. Each of the n
 * blocks adds 1, but the first one 2^31 - (n - 1): when the last one has come,
 * the upper bit is another one, and the rest 0 as before. Blocks wait for the
 * bit to change. No block comes to the next barrier before that, so that the
 * word needs no reset, and a kernel leaves it fit for the next.
 *
 * What the threads of a block wrote before it came is seen by those of any
 * other block afterwards: barriers of the block and the fences of one thread
 * stand on both sides of the word (PTX ISA, memory consistency model, causality
 * order).
 */
#include "private.h"

/* Polls before a block sleeps between them: sleep makes barriers of many blocks
 * slower, but leaves the processor to others where blocks share it. */
#define PATIENCE 1000u

static uint32_t is_first_thread(void) {
  return (__gpu_thread_id_x() | __gpu_thread_id_y() | __gpu_thread_id_z()) == 0;
}

void __pacc_dev_grid_barrier(uint32_t *word, uint32_t wanted) {
  const uint32_t last = 0x80000000u;
  if (!wanted)
    return;
  __gpu_sync_threads();
  uint32_t blocks = __gpu_num_blocks_x();
  if (blocks == 1)
    return;
  if (is_first_thread()) {
    uint32_t own = __gpu_block_id_x() == 0 ? last - (blocks - 1) : 1;
    pacc_fence();
    uint32_t before = pacc_add_u32(word, own);
    for (uint32_t polls = 0; !((pacc_load_u32(word) ^ before) & last); ++polls)
      if (polls >= PATIENCE)
        __nvvm_nanosleep(32);
    pacc_fence();
  }
  __gpu_sync_threads();
}

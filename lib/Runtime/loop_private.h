/* loop_private.h: the choice between a loop of launches and one kernel. */
#ifndef PACC_LOOP_PRIVATE_H
#define PACC_LOOP_PRIVATE_H

#include "pacc/abi.h"

#include <stdbool.h>

enum pacc_loop_mode { PACC_LOOP_AUTO, PACC_LOOP_ALWAYS, PACC_LOOP_NEVER };

/* is_gpu         launches take what they take on a GPU
 * mode           what was asked for
 * sm_count       multiprocessors
 * resident       blocks of the kernel that run at the same time; 0: unknown
 * block_threads  of one block
 * phases, sizes  as __pacc_rt_loop takes them, n_phases of each
 */
struct pacc_loop_facts {
  bool is_gpu;
  enum pacc_loop_mode mode;
  uint32_t sm_count;
  uint32_t resident;
  uint32_t block_threads;
  uint32_t n_phases;
  const struct pacc_phase *phases;
  const struct pacc_size *sizes;
};

/* How many blocks the loop's kernel gets; 0: the host launches the phases. */
uint32_t pacc_loop_blocks(const struct pacc_loop_facts *facts);

#endif

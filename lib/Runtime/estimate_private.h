/* estimate_private.h: what launches, and loops of them, take on the device. */
#ifndef PACC_ESTIMATE_PRIVATE_H
#define PACC_ESTIMATE_PRIVATE_H

#include "pacc/abi.h"

#include <stdbool.h>

enum pacc_loop_mode { PACC_LOOP_AUTO, PACC_LOOP_ALWAYS, PACC_LOOP_NEVER };

/* is_gpu         launches take what they take on a GPU
 * mode           what was asked for
 * sm_count       multiprocessors
 * resident       blocks of the kernel that run at the same time; 0: unknown
 * block_threads  of one block
 * phases, sizes  as __pacc_rt_loop takes them, n_phases of each; phases NULL:
 *                all wait
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

/* blocks   that the loop's kernel gets; 0: the host launches the phases
 * seconds  of the loop, either way; 0 if its sizes are not known
 */
struct pacc_loop_choice {
  uint32_t blocks;
  double seconds;
};

struct pacc_loop_choice pacc_loop_choose(const struct pacc_loop_facts *facts);

/* Seconds of the launches of one kernel, one after the other, on so many
 * multiprocessors. */
double pacc_launches_seconds(const struct pacc_size *size, double sm_count);

#endif

/* estimate.c: what launches, and loops of them, take on the device: for the
 * choice between the device and the host (guard.c), and between a loop of
 * launches and one kernel (loop.c).
 */
#include "estimate_private.h"

#include "pacc/cost.h"

/* The gain must be this share of what the launches take: the estimates are
 * rough, phases that fill the device run better with blocks of their own, and
 * what one thread does alone is slower in code where other blocks write
 * (lib/Model/calibrate/loops-h200.csv: floyd-warshall, gramschmidt, durbin). */
static const double LEAST_GAIN = 0.3;

static bool is_known(const struct pacc_size *size) {
  return size->launches > 0 && size->threads > 0 && size->instances > 0;
}

/* Seconds of a launch, without what starts it, in `threads` threads: those that
 * it has, or fewer that do their work. */
static double phase_seconds(const struct pacc_size *phase, double threads,
                            double seconds_per_instance) {
  double own = phase->threads / phase->launches;
  double rounds = own > threads ? own / threads : 1;
  double waiting =
      PACC_SECONDS_WAIT +
      (phase->instances / phase->threads * rounds - 1) * PACC_SECONDS_INSTANCE;
  double busy = phase->instances / phase->launches * seconds_per_instance;
  return waiting > busy ? waiting : busy;
}

double pacc_launches_seconds(const struct pacc_size *size, double sm_count) {
  if (!is_known(size))
    return 0;
  double alone = phase_seconds(size, size->threads / size->launches,
                               PACC_SECONDS_INSTANCE_SM / sm_count) +
                 PACC_SECONDS_KERNEL;
  return size->launches *
         (alone > PACC_SECONDS_LAUNCH ? alone : PACC_SECONDS_LAUNCH);
}

struct loop_costs {
  double launches;  /* of the phases by the host */
  double kernel;    /* of the loop's kernel, without barriers, */
  double one_block; /* and with one block */
  double barriers;  /* how many there are */
  double needed;    /* blocks that the largest phase has, on average */
};

static struct loop_costs costs_of(const struct pacc_loop_facts *facts) {
  struct loop_costs all = {.needed = 1};
  double most = (double)facts->block_threads * facts->resident;
  double per_sm = PACC_SECONDS_INSTANCE_SM / facts->sm_count;
  for (uint32_t i = 0; i < facts->n_phases; i++) {
    const struct pacc_size *phase = &facts->sizes[i];
    if (!is_known(phase))
      continue;
    double blocks = phase->threads / phase->launches / facts->block_threads;
    all.launches += pacc_launches_seconds(phase, facts->sm_count);
    all.kernel += phase->launches * phase_seconds(phase, most, per_sm);
    all.one_block +=
        phase->launches * phase_seconds(phase, facts->block_threads,
                                        PACC_SECONDS_INSTANCE_ONE_SM);
    if (!facts->phases || facts->phases[i].waits)
      all.barriers += phase->launches;
    if (blocks > all.needed)
      all.needed = blocks;
  }
  return all;
}

struct pacc_loop_choice pacc_loop_choose(const struct pacc_loop_facts *facts) {
  bool always = facts->mode == PACC_LOOP_ALWAYS;
  bool never = facts->mode == PACC_LOOP_NEVER || facts->resident == 0;
  if (!facts->sizes)
    return (struct pacc_loop_choice){always && !never ? facts->resident : 0, 0};
  struct loop_costs all = costs_of(facts);
  uint32_t blocks = facts->resident;
  if (all.needed <= (double)blocks - 1)
    blocks = (uint32_t)all.needed + (all.needed > (uint32_t)all.needed);
  double with_all = all.kernel + all.barriers * pacc_barrier_seconds(blocks);
  double with_one = all.one_block + all.barriers * pacc_barrier_seconds(1);
  if (with_one < with_all)
    blocks = 1;
  double best = with_one < with_all ? with_one : with_all;
  bool pays = facts->is_gpu && all.launches - best > LEAST_GAIN * all.launches;
  if (never || !(always || pays))
    return (struct pacc_loop_choice){0, all.launches};
  return (struct pacc_loop_choice){blocks, best};
}

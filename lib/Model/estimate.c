/* estimate.c: the time that a kernel takes with one block shape, as a sum of
 * physical terms: arithmetic and issue, requests to L1, sectors from L2, bytes
 * of device memory, latency that too few threads leave exposed, and the
 * starting of blocks. docs/model.md derives each formula. */
#include "model_private.h"

#include <math.h>

/* Figures of the microarchitecture that no table of the programming guide has.
 * Clock cycles unless said otherwise; docs/model.md says how each was read. */
static const double WARP = 32;
static const double SCHEDULERS = 4;
static const double L1_TAGS = 4;     /* lines looked up per clock */
static const double L1_SECTORS = 4;  /* sectors delivered per clock */
static const double L2_PORT = 64;    /* bytes per clock from L2 to one SM */
static const double L2_SHARE = 0.65; /* of all ports at once, L2's bandwidth */
static const double L1_LATENCY = 35;
static const double L2_LATENCY = 270;
static const double DRAM_LATENCY = 700;
static const double FP32_LATENCY = 4;
static const double FP64_LATENCY = 8;
static const double BARRIER = 30;
static const double BLOCK_START = 120; /* of an SM's time per block */
static const double THREAD_SETUP = 400;
static const double SPECIAL_COST =
    20;                        /* instructions of a division, exp, ... */
static const double AHEAD = 4; /* iterations whose loads are in flight */
/* Terms overlap, but not perfectly: they are added as this norm. */
static const double OVERLAP = 3;

struct shape {
  double grid[3];
  double blocks;   /* of the grid */
  double warps;    /* of a block, as launched */
  double live;     /* share of the warps with a thread inside the extents */
  double busiest;  /* blocks that the busiest SM runs */
  double resident; /* blocks on it at a time */
};

/* Sums over the accesses; sectors and cycles are per block, all warps live. */
struct traffic {
  double requests; /* warp requests */
  double request_sectors;
  double l1_cycles;
  double read_sectors;  /* from L2 */
  double write_sectors; /* to L2 */
  double miss;          /* share of a loop's iterations that wait for L2 */
  double loop_requests; /* cycles of one warp's own requests in an iteration */
  bool outside;         /* some access is outside the loop */
};

static double ceil_div(uint64_t a, uint64_t b) {
  return (double)((a + b - 1) / b);
}

/* Warps lie along x, then y, then z: a warp is live if any lane is inside. */
static double live_share(const struct pacc_work *work, const uint32_t block[3],
                         const double grid[3]) {
  double share = 1;
  double unit = WARP;
  for (unsigned d = 0; d < 3; d++) {
    double step = unit < block[d] ? (unit < 1 ? 1 : unit) : block[d];
    double used = ceil((double)work->extent[d] / step) * step;
    double launched = grid[d] * block[d];
    share *= used < launched ? used / launched : 1;
    unit /= block[d];
  }
  return share;
}

static struct shape shape_of(const struct pacc_rank_context *context,
                             const struct pacc_block_score *score) {
  const struct pacc_work *work = context->work;
  struct shape s = {.blocks = 1};
  for (unsigned d = 0; d < 3; d++) {
    s.grid[d] = ceil_div(work->extent[d], score->block[d]);
    s.blocks *= s.grid[d];
  }
  s.warps = ceil(score->threads / WARP);
  s.live = live_share(work, score->block, s.grid);
  s.busiest = ceil(s.blocks / context->gpu->sm_count);
  s.resident = fmin(score->occupancy.blocks, s.busiest);
  return s;
}

/*===-- Memory -----------------------------------------------------------===*/

/* Sectors that a group asks of L2 during a whole block if L1 keeps what one
 * pass over a sector's iterations touches; lines is the room that takes. */
static double group_sectors(const struct pacc_rank_context *context,
                            const struct pacc_group *group,
                            const uint32_t block[3], double *lines,
                            double *miss) {
  const struct pacc_access *a = &context->work->accesses[group->members[0]];
  double trip = pacc_access_trip(context->work, a);
  uint64_t seq = (uint64_t)(a->seq < 0 ? -a->seq : a->seq);
  uint32_t pass = 1;
  if (seq && seq < PACC_SECTOR && !a->gather)
    pass = (uint32_t)ceil_div(PACC_SECTOR, seq);
  if (pass > trip)
    pass = trip < 1 ? 1 : (uint32_t)trip;
  struct pacc_footprint one = pacc_group_footprint(context, group, block, pass);
  double fresh = 0;
  if (trip > pass) {
    struct pacc_footprint two =
        pacc_group_footprint(context, group, block, 2 * pass);
    fresh = (two.sectors - one.sectors) / pass;
  }
  *lines = one.lines;
  *miss = trip <= 1 || a->gather ? 1 : seq ? 1.0 / pass : 0;
  return (one.sectors + (trip - pass) * fresh) *
         pacc_access_repeats(context->work, a);
}

/* Bytes of L1 that shared memory leaves. */
static double l1_room(const struct pacc_gpu *gpu,
                      const struct pacc_occupancy_info *occupancy,
                      double resident) {
  double smem = occupancy->smem_block * resident;
  for (uint32_t i = 0; i < gpu->n_carveouts; i++)
    if (gpu->carveouts[i] >= smem)
      return gpu->l1_bytes - gpu->carveouts[i];
  return gpu->l1_bytes - gpu->smem_sm;
}

static struct traffic traffic_of(const struct pacc_rank_context *context,
                                 const struct pacc_block_score *score,
                                 const struct shape *shape) {
  const struct pacc_work *work = context->work;
  struct traffic t = {0};
  double kept = 0, lost = 0, lines = 0;
  for (size_t g = 0; g < context->n_groups; g++) {
    const struct pacc_group *group = &context->groups[g];
    double direct = 0;
    for (size_t m = 0; m < group->n; m++) {
      const struct pacc_access *a = &work->accesses[group->members[m]];
      struct pacc_request r = pacc_access_request(a, score->block);
      double cycles = fmax(1, fmax(r.lines / L1_TAGS, r.sectors / L1_SECTORS));
      double n = shape->warps * a->count;
      t.requests += n;
      t.request_sectors += n * r.sectors;
      t.l1_cycles += n * cycles;
      direct += n * r.sectors;
      if (work->seq_trip > 1 && a->count >= work->seq_trip)
        t.loop_requests += cycles;
      else
        t.outside = true;
    }
    if (work->accesses[group->members[0]].write) {
      t.write_sectors += direct;
      continue;
    }
    double group_lines, miss;
    double ideal =
        group_sectors(context, group, score->block, &group_lines, &miss);
    kept += ideal;
    lost += fmax(ideal, direct);
    lines += group_lines;
    if (work->seq_trip > 1)
      t.miss = fmax(t.miss, miss);
  }
  double room = l1_room(context->gpu, &score->occupancy, shape->resident);
  double window = lines * PACC_LINE * shape->resident;
  double hit = window > room ? room / window : 1;
  t.read_sectors = hit * kept + (1 - hit) * lost;
  t.miss = 1 - hit * (1 - t.miss);
  return t;
}

/* Bytes that come from and go to device memory. What fits into L2 is taken to
 * be there: copies in and earlier kernels leave it. Of what does not fit, each
 * wave of blocks reads what it touches. */
static double dram_bytes(const struct pacc_rank_context *context,
                         const struct pacc_block_score *score,
                         const struct shape *shape, double l2_bytes) {
  const struct pacc_work *work = context->work;
  double l2 = (double)context->gpu->l2_bytes;
  if (context->footprint <= l2)
    return 0;
  double places =
      (double)score->occupancy.blocks * (double)context->gpu->sm_count;
  uint64_t extent[3];
  double waves = 1;
  for (unsigned d = 0; d < 3; d++) {
    double n = fmin(shape->grid[d], fmax(1, floor(places)));
    places /= n;
    waves *= ceil(shape->grid[d] / n);
    double covered = n * score->block[d];
    extent[d] =
        covered < (double)work->extent[d] ? (uint64_t)covered : work->extent[d];
  }
  double bytes = 0;
  for (size_t g = 0; g < context->n_groups; g++) {
    const struct pacc_access *a =
        &work->accesses[context->groups[g].members[0]];
    bytes += waves * pacc_access_span(a, extent, pacc_access_trip(work, a)) *
             pacc_access_repeats(work, a);
  }
  bytes = fmax(context->footprint, fmin(bytes, l2_bytes));
  return context->footprint +
         (1 - l2 / context->footprint) * (bytes - context->footprint);
}

/*===-- Time -------------------------------------------------------------===*/

/* Cycles of the SM for the arithmetic of one warp. */
static double warp_issue(const struct pacc_gpu *gpu,
                         const struct pacc_work *work, double requests) {
  double special = work->special * SPECIAL_COST;
  double fp64 = work->fp64 * WARP / gpu->fp64_lanes;
  double fp32 = work->fp32 * WARP / gpu->fp32_lanes;
  double ints = work->ints * WARP / gpu->int_lanes;
  if (work->fp64 > 0)
    fp64 += special * WARP / gpu->fp64_lanes;
  else
    fp32 += special * WARP / gpu->fp32_lanes;
  double instructions =
      work->fp64 + work->fp32 + work->ints + special + requests;
  return fmax(fmax(fp64, fp32), fmax(ints, instructions / SCHEDULERS));
}

/* Cycles that one thread takes if it never waits for another one. */
static double thread_cycles(const struct pacc_work *work,
                            const struct traffic *t, double far_latency,
                            double instructions) {
  double op = work->fp64 > 0 ? FP64_LATENCY : FP32_LATENCY;
  double cycles = THREAD_SETUP + work->barriers * BARRIER;
  double trip = work->seq_trip;
  if (trip > 1) {
    double wait = t->miss * far_latency + (1 - t->miss) * L1_LATENCY;
    double iteration = fmax(work->chain * op, wait / AHEAD);
    cycles += trip * (iteration + t->loop_requests) + far_latency;
  } else {
    cycles += work->chain * op;
  }
  if (t->outside)
    cycles += far_latency;
  return cycles + instructions;
}

static double norm(const double *terms, unsigned n) {
  double largest = 0, sum = 0;
  for (unsigned i = 0; i < n; i++)
    largest = fmax(largest, terms[i]);
  for (unsigned i = 0; i < n && largest > 0; i++)
    sum += pow(terms[i] / largest, OVERLAP);
  return largest * pow(sum, 1 / OVERLAP);
}

void pacc_estimate(const struct pacc_rank_context *context,
                   struct pacc_block_score *score) {
  const struct pacc_gpu *gpu = context->gpu;
  const struct pacc_work *work = context->work;
  struct shape s = shape_of(context, score);
  struct traffic t = traffic_of(context, score, &s);
  double useful = s.live * work->active;
  double second = 1 / gpu->clock;
  double sms = gpu->sm_count;

  score->blocks = (uint64_t)s.blocks;
  score->waves = s.blocks / (sms * score->occupancy.blocks);
  score->tail = 1 - score->waves / ceil(score->waves);
  score->busy = fmin(1, s.blocks / sms);
  score->sectors = t.requests > 0 ? t.request_sectors / t.requests : 0;
  score->idle_threads = 1;
  for (unsigned d = 0; d < 3; d++)
    score->idle_threads *=
        (double)work->extent[d] / (s.grid[d] * score->block[d]);
  score->idle_threads = 1 - score->idle_threads;

  double block_bytes = (t.read_sectors + t.write_sectors) * PACC_SECTOR;
  score->l2_bytes = block_bytes * s.blocks * useful;
  score->dram_bytes = dram_bytes(context, score, &s, score->l2_bytes);

  /* Few warps leave partitions of the SM without work. */
  double warps = s.resident * s.warps;
  double uneven = SCHEDULERS * ceil(warps / SCHEDULERS) / warps;
  double requests = t.requests / s.warps;
  double issue = warp_issue(gpu, work, requests);
  score->t_issue = s.busiest * s.warps * issue * uneven * useful * second;
  score->t_l1 = s.busiest * t.l1_cycles * useful * second;
  score->t_l2 = fmax(s.busiest * block_bytes * useful / L2_PORT,
                     score->l2_bytes / (sms * L2_PORT * L2_SHARE)) *
                second;
  score->t_dram = score->dram_bytes / gpu->memory_bandwidth;

  double from_dram =
      score->l2_bytes > 0 ? fmin(1, score->dram_bytes / score->l2_bytes) : 0;
  double far_latency = L2_LATENCY + from_dram * (DRAM_LATENCY - L2_LATENCY);
  double instructions =
      work->fp64 + work->fp32 + work->ints + work->special * SPECIAL_COST;
  double rounds = ceil(s.busiest / score->occupancy.blocks);
  score->t_latency =
      rounds * thread_cycles(work, &t, far_latency, instructions) * second;
  score->t_blocks = s.busiest * BLOCK_START * second;

  const double terms[] = {score->t_issue, score->t_l1,      score->t_l2,
                          score->t_dram,  score->t_latency, score->t_blocks};
  score->time = norm(terms, sizeof terms / sizeof *terms);
}

const char *pacc_score_bound(const struct pacc_block_score *score) {
  const struct {
    double time;
    const char *name;
  } terms[] = {
      {score->t_issue, "issue"},     {score->t_l1, "l1"},
      {score->t_l2, "l2"},           {score->t_dram, "dram"},
      {score->t_latency, "latency"}, {score->t_blocks, "blocks"},
  };
  size_t largest = 0;
  for (size_t i = 1; i < sizeof terms / sizeof *terms; i++)
    if (terms[i].time > terms[largest].time)
      largest = i;
  return terms[largest].name;
}

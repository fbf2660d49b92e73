/* estimate.c: the time that a kernel takes with one block shape, as a sum of
 * physical terms: arithmetic and issue, requests to L1, sectors from L2, bytes
 * of device memory, latency that too few threads leave exposed, and the
 * starting of blocks. docs/model.md derives each formula. */
#include "model_private.h"

#include <math.h>

/* Figures of the microarchitecture that no table of the programming guide has,
 * in clock cycles unless said otherwise: read off an H200 by calibrate/probe.cu
 * (calibrate/probe-h200.csv), taken for all GPUs. */
static const double WARP = 32;
static const double SCHEDULERS = 4;
static const double LOAD_LINE = 0.4; /* per line that a load request touches */
static const double STORE_LINE = 2;  /* the same of a store */
static const double L2_PORT = 48;    /* bytes per clock from L2 to one SM */
static const double L2_ALL = 28.8;   /* the same if all ask for other bytes */
static const double DRAM_SHARE = 0.89; /* of the nominal bandwidth */
static const double L1_LATENCY = 40;
static const double L2_LATENCY = 283;
static const double DRAM_LATENCY = 694;
static const double FP32_LATENCY = 4;
static const double FP64_LATENCY = 8;
static const double BLOCK_START = 1.2; /* of the whole GPU, per block */
static const double WARP_START = 7;    /* of its SM, per warp */
static const double BARRIER = 30;
static const double SPECIAL_COST =
    20; /* instructions of a division, exp, ... */
/* Without a figure of the compiler's. */
static const double AHEAD = 4;
/* A block's place is free when its slowest warp is done; one wait for memory
 * varies by this share of its mean. */
static const double VARIATION = 0.5;
static const double BLOCK_SETUP = 600; /* from a free place to the first load */
/* Blocks of an SM drift apart: of what one could take from L1 because another
 * brought it, this share is still there. */
static const double TOGETHER = 0.7;
/* How well terms overlap: two terms are added as norms of these orders (1: one
 * after the other, infinite: at the same time). Streams of work to different
 * units; work and latency; and the starting of blocks beside all of it. */
static const double OVERLAP = 4;
static const double HIDING = 2;
static const double STARTING = 8;

struct shape {
  double grid[3];
  double blocks;  /* of the grid */
  double warps;   /* of a block, as launched */
  double live;    /* share of the warps with a thread inside the extents */
  double busiest; /* blocks with work that the busiest SM runs */
  double started; /* blocks that it starts */
  struct pacc_resident resident; /* blocks on it at a time */
};

/* Sums over the accesses, per block with all warps live. */
struct traffic {
  double requests; /* warp requests */
  double request_sectors;
  double l1_cycles;
  double read_sectors;  /* from L2 */
  double write_sectors; /* to L2 */
  double loop_count;    /* iterations of the loop, all repeats */
  double fresh;         /* share of the iterations that touch a new sector */
  double hit;           /* share of reuse that L1 has room to keep */
  bool outside;         /* some access is outside the loop */
};

static double ceil_div(uint64_t a, uint64_t b) {
  return (double)((a + b - 1) / b);
}

static bool in_loop(const struct pacc_work *work,
                    const struct pacc_access *access) {
  return work->seq_trip > 1 && access->count >= work->seq_trip;
}

/*===-- Shape ------------------------------------------------------------===*/

/* Warps lie along x, then y, then z: a warp is live if any lane is inside. */
static double live_share(const struct pacc_work *work, const uint32_t block[3],
                         const double grid[3]) {
  double share = 1;
  double unit = WARP;
  for (unsigned d = 0; d < 3; d++) {
    double step = fmin(fmax(unit, 1), block[d]);
    double used = ceil((double)work->extent[d] / step) * step;
    share *= fmin(1, used / (grid[d] * block[d]));
    unit /= block[d];
  }
  return share;
}

/* Blocks are handed to the SMs in turn, x first. */
static struct pacc_resident resident_of(const struct pacc_rank_context *context,
                                        const struct pacc_block_score *score,
                                        const struct shape *shape) {
  struct pacc_resident r = {.n = 0};
  double all =
      ceil(shape->blocks * context->work->active / context->gpu->sm_count);
  double n = fmin(fmin(score->occupancy.blocks, PACC_MAX_RESIDENT), all);
  uint64_t gx = (uint64_t)shape->grid[0], gy = (uint64_t)shape->grid[1];
  for (unsigned d = 0; d < 3; d++)
    r.block[d] = score->block[d];
  for (uint64_t id = 0; r.n < n; id += context->gpu->sm_count) {
    r.origin[r.n][0] = id % gx * score->block[0];
    r.origin[r.n][1] = id / gx % gy * score->block[1];
    r.origin[r.n][2] = id / gx / gy * score->block[2];
    r.n++;
  }
  return r;
}

/* Blocks with work that the busiest SM runs. Those of a triangle are not equal:
 * when there is none left to start, each on an SM has between nothing and all
 * of its work before it, a deviation of sqrt(n / 12) blocks for n of them, and
 * the busiest of many SMs has sqrt(2 ln SMs) of these more than the mean. */
static double busiest_of(const struct pacc_rank_context *context,
                         const struct shape *shape) {
  double sms = context->gpu->sm_count, active = context->work->active;
  double mean = shape->blocks * active / sms, n = shape->resident.n;
  double busiest = ceil(mean);
  if (active < 1 && mean > n)
    busiest = fmax(busiest, mean + sqrt(2 * log(sms) * n / 12));
  return busiest;
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
  s.started = ceil(s.blocks / context->gpu->sm_count);
  s.resident = resident_of(context, score, &s);
  s.busiest = busiest_of(context, &s);
  return s;
}

/*===-- Memory -----------------------------------------------------------===*/

/* How an access goes on with the loop: sectors last for `pass` iterations. */
static uint32_t pass_of(const struct pacc_access *access, double trip) {
  uint64_t seq = (uint64_t)(access->seq < 0 ? -access->seq : access->seq);
  double pass = 1;
  if (seq && seq < PACC_SECTOR && !access->gather)
    pass = ceil_div(PACC_SECTOR, seq);
  return (uint32_t)fmin(pass, fmax(1, floor(trip)));
}

/* Sectors that a group asks of L2 for one block if L1 keeps what all resident
 * blocks touch in one pass; lines is the room that takes. */
static double group_sectors(const struct pacc_rank_context *context,
                            const struct pacc_group *group,
                            const struct pacc_resident *resident,
                            double *lines) {
  const struct pacc_access *a = &context->work->accesses[group->members[0]];
  double trip = pacc_access_trip(context->work, a);
  uint32_t pass = pass_of(a, trip);
  struct pacc_footprint one =
      pacc_group_footprint(context, group, resident, pass);
  double fresh = 0;
  if (trip > pass) {
    struct pacc_footprint two =
        pacc_group_footprint(context, group, resident, 2 * pass);
    fresh = (two.sectors - one.sectors) / pass;
  }
  *lines = one.lines;
  return (one.sectors + (trip - pass) * fresh) *
         pacc_access_repeats(context->work, a) / resident->n;
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

static double norm(const double *terms, unsigned n, double order);

/* Clocks of L1 for one request: lines are looked up while the data of others is
 * delivered. */
static double request_cycles(const struct pacc_access *access,
                             const struct pacc_request *r) {
  if (access->write)
    return fmax(r->cycles, STORE_LINE * r->lines);
  const double terms[] = {r->cycles, LOAD_LINE * r->lines};
  return norm(terms, 2, OVERLAP);
}

/* Adds the requests of one access; returns the sectors that they ask for. */
static double add_requests(const struct pacc_work *work,
                           const struct pacc_access *access,
                           const struct pacc_block_score *score, double warps,
                           struct traffic *t) {
  struct pacc_request r = pacc_access_request(access, score->block);
  double cycles = request_cycles(access, &r);
  double n = warps * access->count;
  t->requests += n;
  t->request_sectors += n * r.sectors;
  t->l1_cycles += n * cycles;
  if (in_loop(work, access)) {
    double points = access->points > 1 ? access->points : 1;
    t->loop_count = fmax(t->loop_count, access->count / points);
    if (!access->write && (access->seq || access->gather))
      t->fresh = fmax(t->fresh, 1.0 / pass_of(access, work->seq_trip));
  } else {
    t->outside = true;
  }
  return n * r.sectors;
}

static struct traffic traffic_of(const struct pacc_rank_context *context,
                                 const struct pacc_block_score *score,
                                 const struct shape *shape) {
  const struct pacc_work *work = context->work;
  struct traffic t = {.loop_count = work->seq_trip};
  double kept = 0, lost = 0, lines = 0;
  for (size_t g = 0; g < context->n_groups; g++) {
    const struct pacc_group *group = &context->groups[g];
    double direct = 0;
    for (size_t m = 0; m < group->n; m++)
      direct += add_requests(work, &work->accesses[group->members[m]], score,
                             shape->warps, &t);
    if (work->accesses[group->members[0]].write) {
      t.write_sectors += direct;
      continue;
    }
    double group_lines;
    double ideal =
        group_sectors(context, group, &shape->resident, &group_lines);
    if (shape->resident.n > 1) {
      struct pacc_resident one = shape->resident;
      double own_lines;
      one.n = 1;
      double own = group_sectors(context, group, &one, &own_lines);
      ideal = TOGETHER * ideal + (1 - TOGETHER) * fmax(ideal, own);
    }
    kept += ideal;
    lost += fmax(ideal, direct);
    lines += group_lines;
  }
  double room = l1_room(context->gpu, &score->occupancy, shape->resident.n);
  double window = lines * PACC_LINE;
  t.hit = window > room ? room / window : 1;
  t.read_sectors = t.hit * kept + (1 - t.hit) * lost;
  return t;
}

/* Distinct bytes that each wave of blocks touches, over all waves. */
static double wave_bytes(const struct pacc_rank_context *context,
                         const struct pacc_block_score *score,
                         const struct shape *shape) {
  const struct pacc_work *work = context->work;
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
  return bytes;
}

/* Bytes that come from and go to device memory. What fits into L2 is taken to
 * be there: copies in and earlier kernels leave it. Of what does not fit, each
 * wave of blocks reads what it touches. */
static double dram_bytes(const struct pacc_rank_context *context, double bytes,
                         double l2_bytes) {
  double l2 = (double)context->gpu->l2_bytes;
  if (context->footprint <= l2)
    return 0;
  double least = context->least_traffic;
  bytes = fmax(least, fmin(bytes, l2_bytes));
  return least + (1 - l2 / context->footprint) * (bytes - least);
}

uint32_t pacc_iterations_in_flight(const struct pacc_gpu *gpu,
                                   const struct pacc_work *work) {
  enum { MOST = 16 };
  double threads = work->active;
  for (unsigned d = 0; d < 3; d++)
    threads *= (double)work->extent[d];
  /* Not less than a warp is on an SM that has work, not more than fit. */
  threads = fmin(fmax(threads / gpu->sm_count, WARP), gpu->threads_sm);
  double bytes = 0;
  for (size_t i = 0; i < work->n_accesses; i++) {
    const struct pacc_access *a = &work->accesses[i];
    if (!a->write && in_loop(work, a))
      bytes += a->size * a->count / work->seq_trip /
               (a->stride[0] || a->gather ? 1 : WARP);
  }
  uint32_t n = 1;
  while (bytes > 0 && n < MOST &&
         2 * n * bytes * threads <= L2_PORT * L2_LATENCY)
    n *= 2;
  return n;
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

/* Cycles from a free place on the SM until a block on it is done, if nothing
 * but its waits counts. The loads of some iterations are in flight together;
 * the slowest of the block's warps decides. */
static double block_cycles(const struct pacc_work *work,
                           const struct traffic *t, const struct shape *shape,
                           double far_latency) {
  double op = work->fp64 > 0 ? FP64_LATENCY : FP32_LATENCY;
  double special = work->special * SPECIAL_COST * op;
  double waits = 1, waiting = t->outside ? far_latency : 0, busy = special;
  if (work->seq_trip > 1) {
    double ahead = work->ahead > 0 ? work->ahead : AHEAD;
    ahead = fmin(ahead, work->seq_trip);
    double far = 1 - t->hit * (1 - fmin(1, ahead * t->fresh));
    waits = t->loop_count / ahead;
    waiting += waits * (far * far_latency + (1 - far) * L1_LATENCY);
    busy += t->loop_count * work->chain * op;
  } else {
    busy += work->chain * op;
  }
  double slowest = 1 + VARIATION * sqrt(2 * log(shape->warps) / fmax(1, waits));
  return BLOCK_SETUP + shape->warps * WARP_START + waiting * slowest + busy +
         work->barriers * BARRIER;
}

static double norm(const double *terms, unsigned n, double order) {
  double largest = 0, sum = 0;
  for (unsigned i = 0; i < n; i++)
    largest = fmax(largest, terms[i]);
  for (unsigned i = 0; i < n && largest > 0; i++)
    sum += pow(terms[i] / largest, order);
  return largest * pow(sum, 1 / order);
}

/* The units that all blocks share. */
static double shared_time(const struct pacc_block_score *score) {
  const double work[] = {score->t_issue, score->t_l1, score->t_l2,
                         score->t_dram};
  return norm(work, sizeof work / sizeof *work, OVERLAP);
}

/* What a block asks of the units itself it has to wait for, too: where few
 * blocks share an SM, no other one fills its waits. Blocks start while others
 * run: the two hardly add up. */
static double total_time(const struct pacc_block_score *score,
                         double resident) {
  const double shared = shared_time(score);
  const double run[] = {shared, shared / resident, score->t_latency};
  const double all[] = {norm(run, 3, HIDING), score->t_blocks};
  return norm(all, 2, STARTING);
}

static void describe_grid(const struct pacc_rank_context *context,
                          const struct shape *shape,
                          struct pacc_block_score *score) {
  double sms = context->gpu->sm_count;
  score->blocks = (uint64_t)shape->blocks;
  score->waves = shape->blocks / (sms * score->occupancy.blocks);
  score->tail = 1 - score->waves / ceil(score->waves);
  score->busy = fmin(1, shape->blocks / sms);
  double inside = 1;
  for (unsigned d = 0; d < 3; d++)
    inside *=
        (double)context->work->extent[d] / (shape->grid[d] * score->block[d]);
  score->idle_threads = 1 - inside;
}

void pacc_estimate(const struct pacc_rank_context *context,
                   struct pacc_block_score *score) {
  const struct pacc_gpu *gpu = context->gpu;
  const struct pacc_work *work = context->work;
  struct shape s = shape_of(context, score);
  struct traffic t = traffic_of(context, score, &s);
  describe_grid(context, &s, score);

  double useful = s.live * work->active;
  double busiest = s.busiest * s.live;
  double second = 1 / gpu->clock;
  double sms = gpu->sm_count;
  double block_bytes = (t.read_sectors + t.write_sectors) * PACC_SECTOR;
  score->sectors = t.requests > 0 ? t.request_sectors / t.requests : 0;
  score->l2_bytes = block_bytes * s.blocks * useful;
  double distinct = wave_bytes(context, score, &s);
  score->dram_bytes = dram_bytes(context, distinct, score->l2_bytes);

  /* Few warps leave partitions of the SM without work. */
  double warps = s.resident.n * s.warps;
  double uneven = SCHEDULERS * ceil(warps / SCHEDULERS) / warps;
  double issue = warp_issue(gpu, work, t.requests / s.warps);
  score->t_issue = busiest * s.warps * issue * uneven * second;
  score->t_l1 = busiest * t.l1_cycles * second;
  /* SMs whose loops ask for the same bytes side by side are served at once. */
  double asked = score->l2_bytes;
  if (work->seq_trip > 1)
    asked = fmin(asked, distinct);
  score->t_l2 =
      fmax(busiest * block_bytes / L2_PORT, asked / (sms * L2_ALL)) * second;
  score->t_dram = score->dram_bytes / (gpu->memory_bandwidth * DRAM_SHARE);
  score->t_blocks =
      fmax(s.blocks * BLOCK_START, s.started * s.warps * WARP_START) * second;

  double from_dram =
      score->l2_bytes > 0 ? fmin(1, score->dram_bytes / score->l2_bytes) : 0;
  double far_latency = L2_LATENCY + from_dram * (DRAM_LATENCY - L2_LATENCY);
  double rounds = ceil(s.busiest / score->occupancy.blocks);
  score->t_latency =
      fmax(1, rounds) * block_cycles(work, &t, &s, far_latency) * second;
  score->time = total_time(score, s.resident.n);
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

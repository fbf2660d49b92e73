/* access.c: what the accesses of a kernel mean for memory under a given block
 * shape: sectors and lines per warp request, footprints of blocks and grids. */
#include "model_private.h"

#include <stdio.h>
#include <string.h>

enum {
  SECTOR_SHIFT = 5,
  LINE_SHIFT = 2, /* of a sector number */
  WARP = 32,
  BANKS = 32,
  WORD = 4,
  TAGS = 4,
  SAMPLED_BLOCKS = 4,
  SAMPLED_WARPS = 16,
};

/* Of a warp whose lanes have a line each: a look-up of the lines, and words
 * that meet in a bank (a stride of 136 to 2,080 bytes: calibrate/probe.cu). */
static const double GATHER_CYCLES = 10;

static int64_t magnitude(int64_t value) { return value < 0 ? -value : value; }

/*===-- One warp ---------------------------------------------------------===*/

/* Distinct values of a short array, which is sorted on the way. */
static unsigned distinct(int64_t *values, unsigned n) {
  unsigned kept = 0;
  for (unsigned i = 0; i < n; i++) {
    int64_t value = values[i];
    unsigned at = kept;
    while (at > 0 && values[at - 1] > value)
      at--;
    if (at > 0 && values[at - 1] == value)
      continue;
    memmove(values + at + 1, values + at, (kept - at) * sizeof *values);
    values[at] = value;
    kept++;
  }
  return kept;
}

/* Clocks of L1 for the lanes of one pass: it looks up TAGS lines per clock, and
 * reads one word of each bank, where equal words are read once. */
static unsigned pass_cycles(const int64_t *addresses, unsigned lanes,
                            uint32_t size) {
  int64_t words[2 * WARP];
  unsigned n = 0;
  unsigned per_lane = size > WORD ? (size + WORD - 1) / WORD : 1;
  for (unsigned i = 0; i < lanes; i++)
    for (unsigned w = 0; w < per_lane && n < 2 * WARP; w++)
      words[n++] = (addresses[i] >> 2) + w;
  n = distinct(words, n);
  unsigned banks[BANKS] = {0}, most = 0, lines = 0;
  for (unsigned i = 0; i < n; i++) {
    unsigned in_bank = ++banks[words[i] & (BANKS - 1)];
    most = in_bank > most ? in_bank : most;
    if (i == 0 || words[i] >> 5 != words[i - 1] >> 5)
      lines++;
  }
  unsigned tags = (lines + TAGS - 1) / TAGS;
  return most > tags ? most : tags;
}

/* The lanes of a warp go through L1 in passes of at most 128 bytes. */
static unsigned warp_cycles(const int64_t *addresses, unsigned lanes,
                            uint32_t size) {
  unsigned per_pass = size <= WORD ? WARP : PACC_LINE / size;
  if (per_pass == 0)
    per_pass = 1;
  unsigned cycles = 0;
  for (unsigned i = 0; i < lanes; i += per_pass) {
    unsigned n = lanes - i < per_pass ? lanes - i : per_pass;
    cycles += pass_cycles(addresses + i, n, size);
  }
  return cycles;
}

/* Lanes that each have a line of their own, somewhere: TAGS lines per clock, of
 * which some meet in a bank. */
static struct pacc_request gather_request(double lanes) {
  return (struct pacc_request){lanes, lanes,
                               GATHER_CYCLES * lanes / (double)WARP, lanes};
}

/* One warp of the block whose first thread is at origin. */
static void warp_request(const struct pacc_access *access,
                         const uint32_t block[3], const uint32_t origin[3],
                         uint32_t first, uint32_t threads,
                         struct pacc_request *sum) {
  int64_t addresses[WARP], sectors[2 * WARP];
  unsigned n = 0, lanes = 0;
  for (uint32_t t = first; t < threads && lanes < WARP; t++) {
    uint32_t x = origin[0] + t % block[0];
    uint32_t y = origin[1] + t / block[0] % block[1];
    uint32_t z = origin[2] + t / block[0] / block[1];
    int64_t address = access->offset + x * access->stride[0] +
                      y * access->stride[1] + z * access->stride[2];
    addresses[lanes++] = address;
    int64_t low = address >> SECTOR_SHIFT;
    int64_t high = (address + access->size - 1) >> SECTOR_SHIFT;
    sectors[n++] = low;
    if (high != low)
      sectors[n++] = high;
  }
  n = distinct(sectors, n);
  unsigned lines = 0;
  for (unsigned i = 0; i < n; i++)
    if (i == 0 || sectors[i] >> LINE_SHIFT != sectors[i - 1] >> LINE_SHIFT)
      lines++;
  sum->sectors += n;
  sum->lines += lines;
  sum->cycles += warp_cycles(addresses, lanes, access->size);
  sum->lanes += lanes;
}

/* Warps of several blocks along the diagonal, so that rows that are not
 * aligned to a sector show. */
struct pacc_request pacc_access_request(const struct pacc_access *access,
                                        const uint32_t block[3]) {
  uint32_t threads = block[0] * block[1] * block[2];
  uint32_t warps = (threads + WARP - 1) / WARP;
  if (access->gather) {
    return gather_request((double)threads / warps);
  }
  uint32_t all = warps * SAMPLED_BLOCKS;
  uint32_t n = all < SAMPLED_WARPS ? all : SAMPLED_WARPS;
  struct pacc_request sum = {0, 0, 0, 0};
  for (uint32_t i = 0; i < n; i++) {
    uint32_t warp = i * all / n;
    uint32_t b = warp / warps;
    uint32_t origin[3] = {b * block[0], b * block[1], b * block[2]};
    warp_request(access, block, origin, warp % warps * WARP, threads, &sum);
  }
  return (struct pacc_request){sum.sectors / n, sum.lines / n, sum.cycles / n,
                               sum.lanes / n};
}

enum pacc_access_class pacc_access_classify(const struct pacc_access *access) {
  if (access->gather)
    return PACC_ACCESS_GATHER;
  if (access->stride[0] == 0)
    return PACC_ACCESS_UNIFORM;
  if (magnitude(access->stride[0]) == access->size)
    return PACC_ACCESS_CONTIGUOUS;
  return PACC_ACCESS_STRIDED;
}

const char *pacc_access_class_name(enum pacc_access_class class_of) {
  switch (class_of) {
  case PACC_ACCESS_UNIFORM:
    return "uniform";
  case PACC_ACCESS_CONTIGUOUS:
    return "contiguous";
  case PACC_ACCESS_STRIDED:
    return "strided";
  case PACC_ACCESS_GATHER:
    return "gather";
  }
  return "unknown";
}

char *pacc_access_print(const struct pacc_access *access, char *text,
                        size_t size) {
  enum pacc_access_class class_of = pacc_access_classify(access);
  const char *name = pacc_access_class_name(class_of);
  if (class_of == PACC_ACCESS_STRIDED)
    snprintf(text, size, "%s by %lld bytes", name,
             (long long)access->stride[0]);
  else
    snprintf(text, size, "%s", name);
  return text;
}

bool pacc_access_complex(const struct pacc_access *access) {
  if (access->gather)
    return true;
  if (access->stride[0] == 0)
    return false;
  return magnitude(access->stride[0]) > 2 * (int64_t)access->size;
}

/*===-- Blocks and grids -------------------------------------------------===*/

double pacc_access_trip(const struct pacc_work *work,
                        const struct pacc_access *access) {
  return access->count >= work->seq_trip ? work->seq_trip : 1;
}

double pacc_access_repeats(const struct pacc_work *work,
                           const struct pacc_access *access) {
  return access->count / pacc_access_trip(work, access);
}

/* A dimension of a footprint: n steps of stride bytes. */
struct steps {
  int64_t stride;
  uint64_t n;
};

/* Ascending by stride; four of them at most. */
static unsigned sorted_steps(const struct pacc_access *access,
                             const uint64_t extent[3], uint64_t trip,
                             struct steps steps[4]) {
  unsigned n = 0;
  for (unsigned d = 0; d < 4; d++) {
    struct steps s = {magnitude(d < 3 ? access->stride[d] : access->seq),
                      d < 3 ? extent[d] : trip};
    if (s.n <= 1 || s.stride == 0)
      continue;
    unsigned at = n++;
    for (; at > 0 && steps[at - 1].stride > s.stride; at--)
      steps[at] = steps[at - 1];
    steps[at] = s;
  }
  return n;
}

/* Takes the steps that leave no sector out into one dense piece of bytes; the
 * steps from the returned index on are apart. */
static unsigned dense_piece(const struct steps *steps, unsigned n,
                            uint32_t size, int64_t *bytes) {
  unsigned d = 0;
  *bytes = size;
  for (; d < n; d++) {
    int64_t gapless = *bytes > PACC_SECTOR ? *bytes : PACC_SECTOR;
    if (steps[d].stride > gapless)
      break;
    *bytes += steps[d].stride * (int64_t)(steps[d].n - 1);
  }
  return d;
}

double pacc_access_span(const struct pacc_access *access,
                        const uint64_t extent[3], double trip) {
  if (access->gather)
    return (double)extent[0] * (double)extent[1] * (double)extent[2] * trip *
           PACC_SECTOR;
  struct steps steps[4];
  unsigned n = sorted_steps(access, extent, (uint64_t)(trip + 0.5), steps);
  int64_t piece;
  unsigned d = dense_piece(steps, n, access->size, &piece);
  double bytes =
      (double)((piece + PACC_SECTOR - 1) / PACC_SECTOR) * PACC_SECTOR;
  /* Later steps may still overlap what is there (a band of rows). */
  double reach = (double)piece;
  for (; d < n; d++) {
    double stride = (double)steps[d].stride;
    double rest = (double)(steps[d].n - 1);
    double fresh = stride >= reach ? bytes : bytes * stride / reach;
    bytes += rest * fresh;
    reach += rest * stride;
  }
  return bytes;
}

struct pacc_access_use pacc_access_describe(const struct pacc_work *work,
                                            const struct pacc_access *access,
                                            const uint32_t block[3]) {
  uint64_t extent[3];
  double threads = 1;
  for (unsigned d = 0; d < 3; d++) {
    extent[d] = block[d] < work->extent[d] ? block[d] : work->extent[d];
    threads *= (double)extent[d];
  }
  double trip = pacc_access_trip(work, access);
  double once = pacc_access_span(access, extent, 1);
  double all = pacc_access_span(access, extent, trip);
  return (struct pacc_access_use){
      .class_of = pacc_access_classify(access),
      .request = pacc_access_request(access, block),
      .bytes = all,
      .reuse_threads = threads * access->size / once,
      .reuse_loop = trip * once / all,
  };
}

/* Shell's sort: the runs mostly come in order, and nothing is called. */
static void sort_runs(struct pacc_run *runs, size_t n) {
  size_t gap = 1;
  while (gap < n / 3)
    gap = 3 * gap + 1;
  for (; gap > 0; gap /= 3)
    for (size_t i = gap; i < n; i++) {
      struct pacc_run run = runs[i];
      size_t at = i;
      for (; at >= gap && runs[at - gap].lo > run.lo; at -= gap)
        runs[at] = runs[at - gap];
      runs[at] = run;
    }
}

/* The union of runs, counted in sectors and in lines. */
static struct pacc_footprint count_runs(struct pacc_run *runs, size_t n) {
  sort_runs(runs, n);
  struct pacc_footprint sum = {0, 0};
  int64_t next_sector = INT64_MIN, next_line = INT64_MIN;
  for (size_t i = 0; i < n; i++) {
    int64_t lo = runs[i].lo > next_sector ? runs[i].lo : next_sector;
    if (lo >= runs[i].hi)
      continue;
    int64_t line = lo >> LINE_SHIFT;
    int64_t line_end = ((runs[i].hi - 1) >> LINE_SHIFT) + 1;
    if (line < next_line)
      line = next_line;
    sum.sectors += (double)(runs[i].hi - lo);
    if (line < line_end)
      sum.lines += (double)(line_end - line);
    next_sector = runs[i].hi;
    next_line = line_end > next_line ? line_end : next_line;
  }
  return sum;
}

/* The piece that a block adds to a footprint: steps apart, largest last. */
struct pattern {
  int64_t piece;
  struct steps apart[4];
};

static struct pattern pattern_of(const struct pacc_access *access,
                                 const uint32_t block[3],
                                 const uint64_t extents[3],
                                 uint32_t iterations) {
  uint64_t extent[3];
  for (unsigned d = 0; d < 3; d++)
    extent[d] = block[d] < extents[d] ? block[d] : extents[d];
  struct pattern p = {0, {{0, 1}, {0, 1}, {0, 1}, {0, 1}}};
  struct steps steps[4];
  unsigned n = sorted_steps(access, extent, iterations, steps);
  unsigned d = dense_piece(steps, n, access->size, &p.piece);
  for (unsigned i = 0; d < n; d++, i++)
    p.apart[i] = steps[d];
  return p;
}

static size_t add_runs(const struct pattern *p, int64_t base,
                       struct pacc_run *runs, size_t n, size_t room) {
  for (uint64_t c = 0; c < p->apart[3].n; c++)
    for (uint64_t b = 0; b < p->apart[2].n; b++)
      for (uint64_t a = 0; a < p->apart[1].n; a++)
        for (uint64_t i = 0; i < p->apart[0].n && n < room; i++) {
          int64_t low = base + (int64_t)c * p->apart[3].stride +
                        (int64_t)b * p->apart[2].stride +
                        (int64_t)a * p->apart[1].stride +
                        (int64_t)i * p->apart[0].stride;
          runs[n++] = (struct pacc_run){
              low >> SECTOR_SHIFT, ((low + p->piece - 1) >> SECTOR_SHIFT) + 1};
        }
  return n;
}

struct pacc_footprint pacc_group_footprint(
    const struct pacc_rank_context *context, const struct pacc_group *group,
    const struct pacc_resident *resident, uint32_t iterations) {
  const struct pacc_work *work = context->work;
  const struct pacc_access *first = &work->accesses[group->members[0]];
  if (first->gather) {
    double sectors = (double)group->n * iterations * resident->n;
    for (unsigned d = 0; d < 3; d++)
      sectors *= resident->block[d];
    return (struct pacc_footprint){sectors, sectors};
  }
  struct pattern p =
      pattern_of(first, resident->block, work->extent, iterations);
  size_t n = 0;
  for (uint32_t r = 0; r < resident->n; r++)
    for (size_t m = 0; m < group->n; m++) {
      int64_t base = work->accesses[group->members[m]].offset;
      for (unsigned d = 0; d < 3; d++)
        base += (int64_t)resident->origin[r][d] * first->stride[d];
      n = add_runs(&p, base, context->runs, n, context->n_runs);
    }
  return count_runs(context->runs, n);
}

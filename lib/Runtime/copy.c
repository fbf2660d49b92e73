/* copy.c: copies in host memory. A large one is shared by a few threads,
 * since one alone reaches a fraction of what memory and PCIe give.
 */
#include "copy_private.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>

/* Below LARGE bytes, starting threads costs more than it gains. More than
 * MAX_SHARES threads gain nothing (measured on a two-socket server). */
enum { LARGE = 8 << 20, MAX_SHARES = 4 };

/* Rows [first, last) of a copy whose `count` rows were made small enough to
 * be shared out. before: NULL to copy everything. */
struct share {
  char *to;
  const char *from;
  const char *before;
  uint64_t to_pitch, from_pitch, width, first, last;
  uint32_t unit;
};

/* A constant `unit` makes a comparison and a store of each memcmp and memcpy.
 */
static inline __attribute__((always_inline)) void
copy_units(char *to, const char *from, const char *before, uint64_t n,
           uint64_t unit) {
  for (uint64_t i = 0; i < n; i += unit)
    if (memcmp(from + i, before + i, unit) != 0)
      memcpy(to + i, from + i, unit);
}

/* Blocks that did not change are passed over as a whole. */
static void copy_changes(char *to, const char *from, const char *before,
                         uint64_t n, uint32_t unit) {
  enum { BLOCK = 256 };
  for (uint64_t i = 0; i < n; i += BLOCK) {
    uint64_t size = n - i < BLOCK ? n - i : BLOCK;
    if (memcmp(from + i, before + i, size) == 0)
      continue;
    switch (unit) {
    case 8:
      copy_units(to + i, from + i, before + i, size, 8);
      break;
    case 4:
      copy_units(to + i, from + i, before + i, size, 4);
      break;
    case 2:
      copy_units(to + i, from + i, before + i, size, 2);
      break;
    default:
      copy_units(to + i, from + i, before + i, size, 1);
    }
  }
}

static void *copy_share(void *argument) {
  const struct share *share = argument;
  for (uint64_t row = share->first; row < share->last; row++) {
    char *to = share->to + row * share->to_pitch;
    const char *from = share->from + row * share->from_pitch;
    if (share->before)
      copy_changes(to, from, share->before + row * share->from_pitch,
                   share->width, share->unit);
    else
      memcpy(to, from, share->width);
  }
  return NULL;
}

unsigned pacc_copy_helpers(void) {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set))
    return 0;
  int cpus = CPU_COUNT(&set);
  return cpus < MAX_SHARES ? (unsigned)cpus - 1 : MAX_SHARES - 1;
}

unsigned pacc_copy_start(pthread_t threads[], unsigned n, void *(*body)(void *),
                         void *arguments, size_t size) {
  unsigned started = 0;
  sigset_t all, before;
  /* The program's signal handlers run on the program's threads. */
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  while (started < n && pthread_create(&threads[started], NULL, body,
                                       (char *)arguments + started * size) == 0)
    started++;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return started;
}

/* Runs the shares, the last one on this thread. A thread that can't be had
 * costs time only. */
static void run_shares(struct share shares[], unsigned n_shares) {
  pthread_t threads[MAX_SHARES];
  unsigned started = pacc_copy_start(threads, n_shares - 1, copy_share, shares,
                                     sizeof *shares);
  for (unsigned i = started; i < n_shares; i++)
    copy_share(&shares[i]);
  for (unsigned i = 0; i < started; i++)
    pthread_join(threads[i], NULL);
}

/* One row, cut into `n_shares` rows of almost equal length; the rest goes
 * with the last. */
static void share_row(const struct share *whole, unsigned n_shares,
                      struct share shares[]) {
  /* Whole units, and no cache line twice in most cases. */
  uint64_t part = whole->width / n_shares & ~UINT64_C(63);
  for (unsigned i = 0; i < n_shares; i++) {
    shares[i] = *whole;
    shares[i].to += i * part;
    shares[i].from += i * part;
    if (whole->before)
      shares[i].before += i * part;
    shares[i].width = i + 1 < n_shares ? part : whole->width - i * part;
  }
}

static void share_rows(const struct share *whole, unsigned n_shares,
                       struct share shares[]) {
  uint64_t part = whole->last / n_shares;
  for (unsigned i = 0; i < n_shares; i++) {
    shares[i] = *whole;
    shares[i].first = i * part;
    if (i + 1 < n_shares)
      shares[i].last = (i + 1) * part;
  }
}

static void copy_rows(struct share whole) {
  const uint64_t width = whole.width, count = whole.last;
  struct share shares[MAX_SHARES];
  unsigned n_shares = 1;
  if (width * count >= LARGE)
    n_shares += pacc_copy_helpers();
  if (n_shares == 1) {
    copy_share(&whole);
    return;
  }
  if (count < n_shares * 4) {
    for (uint64_t row = 0; row < count; row++) {
      whole.first = row;
      whole.last = row + 1;
      share_row(&whole, n_shares, shares);
      run_shares(shares, n_shares);
    }
    return;
  }
  share_rows(&whole, n_shares, shares);
  run_shares(shares, n_shares);
}

void pacc_copy_rows(void *to, uint64_t to_pitch, const void *from,
                    uint64_t from_pitch, uint64_t width, uint64_t count) {
  copy_rows((struct share){.to = to,
                           .from = from,
                           .to_pitch = to_pitch,
                           .from_pitch = from_pitch,
                           .width = width,
                           .last = count});
}

void pacc_copy_changes(void *to, uint64_t to_pitch, const void *from,
                       const void *before, uint64_t from_pitch, uint64_t width,
                       uint64_t count, uint32_t unit) {
  bool aligned =
      ((uintptr_t)to | (count > 1 ? to_pitch : 0) | width) % unit == 0;
  copy_rows((struct share){.to = to,
                           .from = from,
                           .before = before,
                           .unit = aligned ? unit : 1,
                           .to_pitch = to_pitch,
                           .from_pitch = from_pitch,
                           .width = width,
                           .last = count});
}

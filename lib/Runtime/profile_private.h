/* profile_private.h: when regions, kernels and copies ran (PACC_PROFILE,
 * PACC_PROFILE_CSV).
 *
 * Device operations are put between two events of the run's stream. Their
 * times are read when the stream was synchronised, relative to an event at
 * the region's begin whose time on the host's clock is known.
 */
#ifndef PACC_PROFILE_PRIVATE_H
#define PACC_PROFILE_PRIVATE_H

#include <stdbool.h>
#include <stdint.h>

struct pacc_run;

enum pacc_profile_kind {
  PACC_PROFILE_REGION,
  PACC_PROFILE_LOAD,       /* an image became a module */
  PACC_PROFILE_COPY_IN,    /* host to device */
  PACC_PROFILE_KERNEL,     /* one launch */
  PACC_PROFILE_COPY_OUT,   /* device to staging memory */
  PACC_PROFILE_WRITE_BACK, /* staging memory to the arrays, on the host */
};

/* A device operation whose time is not known yet. */
struct pacc_profile_op {
  enum pacc_profile_kind kind;
  const char *name;
  const char *label;
  uint64_t bytes;
  uint32_t grid[3];
  uint32_t block[3];
  void *from, *to;
};

/* base     the event at the region's begin; NULL: nothing can be timed
 * base_ns  its time on the host's clock */
struct pacc_profile_run {
  void *base;
  uint64_t base_ns;
  struct pacc_profile_op *ops;
  unsigned n_ops, capacity;
};

/* A line of the CSV file. Times in nanoseconds of pacc_clock.
 * on_device  whether it belongs to the device's tracks of the trace
 * ok         false: a region that ran its original loops */
struct pacc_profile_row {
  enum pacc_profile_kind kind;
  const char *name;
  const char *label;
  unsigned thread;
  uint64_t start_ns, duration_ns;
  uint64_t bytes;
  uint32_t grid[3];
  uint32_t block[3];
  bool on_device;
  bool ok;
};

/* Nanoseconds of a clock that never goes back. */
uint64_t pacc_clock(void);

/* ---- files (profile_file.c) ---- */

/* Opens the files that the environment names. */
void pacc_profile_open(const char *device_name);

/* Ends the files. Does not wait for a thread that is writing. */
void pacc_profile_close(void);

/* In the child of a fork: the files are the parent's. */
void pacc_profile_forget(void);

/* Whether there is a file. */
bool pacc_profile_on(void);

void pacc_profile_write(const struct pacc_profile_row *row);
void pacc_profile_flush(void);

/* ---- operations of a run (profile.c); nothing happens without a file ---- */

void pacc_profile_begin(struct pacc_run *run);

/* Round the call that queues the operation. op's strings must outlive the
 * run. before returns false if the operation is not recorded, and after must
 * then not be called. */
bool pacc_profile_before(struct pacc_run *run,
                         const struct pacc_profile_op *op);
void pacc_profile_after(struct pacc_run *run);

/* Whether so many operations wait that the stream should be synchronised and
 * pacc_profile_collect called, to bound memory and events. */
bool pacc_profile_full(const struct pacc_run *run);

/* Writes the operations of a stream that was synchronised. */
void pacc_profile_collect(struct pacc_run *run);

/* Something that the host did from `start_ns` until now. */
void pacc_profile_host(struct pacc_run *run, enum pacc_profile_kind kind,
                       const char *name, uint64_t start_ns, uint64_t bytes);

/* Writes the region, and drops operations that were not collected. */
void pacc_profile_end(struct pacc_run *run, bool ok);

#endif

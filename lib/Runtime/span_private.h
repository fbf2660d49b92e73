/* span_private.h: regions that leave their arrays on the device. */
#ifndef PACC_SPAN_PRIVATE_H
#define PACC_SPAN_PRIVATE_H

#include "run_private.h"

/* `count` rows of `width` bytes, `pitch` bytes apart, `lo` bytes from a
 * mirror's start on. */
struct pacc_box {
  uint64_t lo, width, count, pitch;
};

/* What the device has of `size` bytes of host memory from `start` on. Mirrors
 * of a span do not overlap: one that becomes too small is retired, but keeps
 * its memory until the span ends, since queued kernels may use it.
 * address  of the first byte on the device
 * filled   the device has the bytes, or kernels write them all
 * boxes    what regions have written, every byte of it
 * before   what the host had when the device got it, if regions write bytes
 * that are not known: then only changes may go back, and the boxes are just
 *          dirty_lo to dirty_hi, the hull of what may have been written
 * unit     bytes that are written together then
 * user     the region that has an address in it and runs no kernel yet
 * wants_*  of this region: its contents, only changes to be written, a look
 *          whether the memory can be read at all
 * wanted   bytes that this region copies, were it alone
 */
enum { PACC_MAX_BOXES = 8 };
struct pacc_mirror {
  const char *name;
  char *start;
  uint64_t size;
  uint64_t address;
  struct pacc_block *block, *before;
  uint64_t dirty_lo, dirty_hi;
  struct pacc_box boxes[PACC_MAX_BOXES];
  unsigned n_boxes;
  uint32_t unit;
  bool filled, retired;
  const struct pacc_run *user;
  bool wants_contents, wants_before, wants_check;
  uint64_t wanted;
  struct pacc_mirror *next;
};

/* run       its own, for copies back; NULL before the first region
 * balance   seconds that the regions so far were expected to lose on the
 *           device, less what they gain
 * seen      regions that ran, of which copies were counted
 */
struct pacc_open_span {
  struct pacc_span *descriptor;
  struct pacc_run *run;
  struct pacc_mirror *mirrors;
  double balance;
  uint64_t start_ns;
  const struct pacc_region **seen;
  unsigned n_seen, seen_capacity;
};

/* Gives the array of a region its place in a mirror, which is made, or made
 * larger, if need be. */
void pacc_mirror_place(struct pacc_run *run, struct pacc_array *array);

/* Notes a copy of a region: rows from `from` on. */
void pacc_mirror_want(struct pacc_run *run, struct pacc_mirror *mirror,
                      uint32_t direction, const char *from, uint64_t width,
                      uint64_t count, uint64_t pitch);

/* Before kernels run: brings what the region wants to the device. */
void pacc_mirror_prepare(struct pacc_run *run);

/* Makes everything that kernels wrote results of the span's run. */
void pacc_mirror_collect(struct pacc_open_span *span);

/* Frees the mirrors; nothing uses them any more. */
void pacc_mirror_free_all(struct pacc_open_span *span,
                          struct pacc_device *device);

/* Is the region's first run in this span? Remembers it. */
bool pacc_span_is_first(struct pacc_open_span *span,
                        const struct pacc_region *region);

#endif

/* count_private.h: the counters behind pacc_rt_count. */
#ifndef PACC_COUNT_PRIVATE_H
#define PACC_COUNT_PRIVATE_H

#include <stdatomic.h>
#include <stdint.h>

struct pacc_counts {
  _Atomic uint64_t regions, fallbacks, launches;
  _Atomic uint64_t copies_in, bytes_in, copies_out, bytes_out;
  _Atomic uint64_t modules;
};

extern struct pacc_counts pacc_counts;

static inline void pacc_count(_Atomic uint64_t *counter, uint64_t amount) {
  atomic_fetch_add_explicit(counter, amount, memory_order_relaxed);
}

#endif

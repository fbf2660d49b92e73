/* arena.c: reserves the address range, places regions in it, and finds the
 * region that an address belongs to. */
#include "arena.h"

#include "status.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define KiB 1024ull
#define MiB (1024 * KiB)
#define GiB (1024 * MiB)

enum {
  MAX_LOG2 = 40,
  MIN_LOG2 = 32,
  /* Freed regions that are remembered, for messages about use after free. */
  MAX_FREED = 4096,
};

/* A region lies in the pages [low, high) and ends at `address + size`. */
struct region {
  uint64_t low, high;
  uint64_t address, size;
  enum pacc_cpu_region_kind kind;
  int freed;
  char label[40];
};

/* `regions` is sorted by address. `cursor` is where the search for room
 * begins, which moves on so that freed addresses rest. */
static struct {
  pthread_once_t once;
  pthread_mutex_t lock;
  struct pacc_cpu_arena range;
  struct pacc_cpu_bounds *bounds;
  uint64_t cursor;
  struct region *regions;
  size_t n, capacity, n_freed;
} arena = {.once = PTHREAD_ONCE_INIT, .lock = PTHREAD_MUTEX_INITIALIZER};

static void *reserve(uint64_t size, int protection) {
  void *p = mmap(NULL, size, protection,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return p == MAP_FAILED ? NULL : p;
}

static void arena_init(void) {
  for (unsigned log2 = MAX_LOG2; log2 >= MIN_LOG2; log2--) {
    uint64_t size = 1ull << log2;
    unsigned char *p = reserve(2 * size, PROT_NONE);
    if (!p)
      continue;
    uint64_t table =
        sizeof(struct pacc_cpu_bounds) * (size >> PACC_CPU_SLOT_LOG2);
    struct pacc_cpu_bounds *bounds = reserve(table, PROT_READ | PROT_WRITE);
    if (!bounds) {
      munmap(p, 2 * size);
      continue;
    }
    uint64_t from = (uint64_t)(uintptr_t)p;
    uint64_t base = (from + size - 1) & ~(size - 1);
    if (base > from)
      munmap(p, base - from);
    if (base < from + size)
      munmap(p + (base - from) + size, from + size - base);
    arena.range = (struct pacc_cpu_arena){base, log2, bounds};
    arena.bounds = bounds;
    arena.cursor = base;
    return;
  }
}

const struct pacc_cpu_arena *pacc_cpu_arena_get(void) {
  pthread_once(&arena.once, arena_init);
  if (arena.range.base)
    return &arena.range;
  pacc_cpu_fail(PACC_CPU_ERROR_OUT_OF_MEMORY,
                "cannot reserve %llu GiB of addresses for device memory: raise "
                "the limit on virtual memory (ulimit -v)",
                (1ull << MIN_LOG2) / GiB);
  return NULL;
}

/* The first region whose pages end after `address`. */
static size_t find_region(uint64_t address) {
  size_t low = 0, high = arena.n;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (arena.regions[middle].high <= address)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static uint64_t slots_up(uint64_t size) {
  return (size + PACC_CPU_SLOT - 1) & -(uint64_t)PACC_CPU_SLOT;
}

/* Bytes that are kept inaccessible on each side of a region: a wrong index
 * should miss the next one. There may be thousands of stacks. At least a slot:
 * regions don't share any. */
static uint64_t gap_for(enum pacc_cpu_region_kind kind, uint64_t pages) {
  uint64_t gap = pages < 1 * GiB ? pages : 1 * GiB;
  uint64_t least = kind == PACC_CPU_STACK ? 1 * MiB : 16 * MiB;
  if (kind == PACC_CPU_HEAP)
    return 0;
  if (arena.range.log2 < MAX_LOG2)
    least = PACC_CPU_SLOT;
  return gap < least ? least : slots_up(gap);
}

/* Bytes that are made accessible for a region. Pieces of the heap are many, and
 * systems limit the number of mappings: they lie side by side, with whole slots
 * in one mapping, and only checks tell them apart. */
static uint64_t opened(enum pacc_cpu_region_kind kind, uint64_t pages) {
  return kind == PACC_CPU_HEAP ? slots_up(pages) : pages;
}

static void bounds_fill(const struct region *r, struct pacc_cpu_bounds bounds) {
  uint64_t from = (r->low - arena.range.base) >> PACC_CPU_SLOT_LOG2;
  uint64_t last = (r->high - 1 - arena.range.base) >> PACC_CPU_SLOT_LOG2;
  for (uint64_t slot = from; slot <= last; slot++)
    arena.bounds[slot] = bounds;
}

static void bounds_set(const struct region *r) {
  bounds_fill(r, (struct pacc_cpu_bounds){r->address, r->size});
}

static void bounds_clear(const struct region *r) {
  bounds_fill(r, (struct pacc_cpu_bounds){0, 0});
}

static void forget_freed(void) {
  size_t kept = 0;
  for (size_t i = 0; i < arena.n; i++)
    if (!arena.regions[i].freed)
      arena.regions[kept++] = arena.regions[i];
  arena.n = kept;
  arena.n_freed = 0;
}

/* A place for `pages` bytes between two gaps at or after `from`, 0 if there is
 * none; *index is where the region belongs in the table. */
static uint64_t find_room(uint64_t from, uint64_t pages, uint64_t gap,
                          size_t *index) {
  uint64_t end = arena.range.base + (1ull << arena.range.log2);
  for (size_t i = find_region(from);; i++) {
    uint64_t low = i ? arena.regions[i - 1].high : arena.range.base;
    low = slots_up(low < from ? from : low);
    uint64_t high = i < arena.n ? arena.regions[i].low : end;
    if (high > low && high - low >= pages + 2 * gap) {
      *index = i;
      return low + gap;
    }
    if (i >= arena.n)
      return 0;
  }
}

static int table_reserve(void) {
  if (arena.n < arena.capacity)
    return 0;
  size_t capacity = arena.capacity ? 2 * arena.capacity : 64;
  struct region *regions = realloc(arena.regions, capacity * sizeof(*regions));
  if (!regions)
    return -1;
  arena.regions = regions;
  arena.capacity = capacity;
  return 0;
}

static int alloc_locked(enum pacc_cpu_region_kind kind, uint64_t size,
                        uint64_t align, const char *label, uint64_t *address) {
  uint64_t span = (size + align - 1) & ~(align - 1);
  uint64_t pages = (span + PACC_CPU_PAGE - 1) & -(uint64_t)PACC_CPU_PAGE;
  uint64_t gap = gap_for(kind, pages);
  size_t index = 0;
  uint64_t room = opened(kind, pages);
  uint64_t low = find_room(arena.cursor, room, gap, &index);
  if (!low) {
    forget_freed();
    low = find_room(arena.range.base, room, gap, &index);
  }
  if (!low || table_reserve())
    return PACC_CPU_ERROR_OUT_OF_MEMORY;
  if (mprotect((void *)(uintptr_t)low, room, PROT_READ | PROT_WRITE))
    return PACC_CPU_ERROR_OUT_OF_MEMORY;
  memmove(&arena.regions[index + 1], &arena.regions[index],
          (arena.n - index) * sizeof(struct region));
  arena.n++;
  struct region *r = &arena.regions[index];
  *r = (struct region){.low = low,
                       .high = low + pages,
                       .address = low + pages - span,
                       .size = size,
                       .kind = kind};
  if (label)
    snprintf(r->label, sizeof(r->label), "%s", label);
  bounds_set(r);
  arena.cursor = r->high;
  *address = r->address;
  return 0;
}

int pacc_cpu_arena_alloc(enum pacc_cpu_region_kind kind, uint64_t size,
                         uint64_t align, const char *label, uint64_t *address) {
  if (!pacc_cpu_arena_get())
    return PACC_CPU_ERROR_OUT_OF_MEMORY;
  int status = PACC_CPU_ERROR_OUT_OF_MEMORY;
  if (size <= 1ull << arena.range.log2) {
    pthread_mutex_lock(&arena.lock);
    status = alloc_locked(kind, size, align, label, address);
    pthread_mutex_unlock(&arena.lock);
  }
  if (status)
    pacc_cpu_fail(status, "no room for %llu bytes of device memory",
                  (unsigned long long)size);
  return status;
}

/* A fresh mapping gives the memory back and makes it inaccessible. */
static void release_pages(const struct region *r) {
  void *low = (void *)(uintptr_t)r->low;
  uint64_t size = opened(r->kind, r->high - r->low);
  if (mmap(low, size, PROT_NONE,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1,
           0) == MAP_FAILED)
    madvise(low, size, MADV_DONTNEED); /* too many mappings: stays accessible */
}

int pacc_cpu_arena_free(enum pacc_cpu_region_kind kind, uint64_t address,
                        uint64_t *size) {
  int status = PACC_CPU_ERROR_INVALID_VALUE;
  pthread_mutex_lock(&arena.lock);
  size_t i = find_region(address);
  struct region *r = i < arena.n ? &arena.regions[i] : NULL;
  if (r && r->address == address && r->kind == kind && !r->freed) {
    release_pages(r);
    bounds_clear(r);
    *size = r->size;
    r->freed = 1;
    if (++arena.n_freed > MAX_FREED)
      forget_freed();
    status = 0;
  }
  pthread_mutex_unlock(&arena.lock);
  if (status)
    pacc_cpu_fail(status, "0x%llx is not the address of device memory",
                  (unsigned long long)address);
  return status;
}

void pacc_cpu_arena_resize(uint64_t address, uint64_t from, uint64_t size) {
  pthread_mutex_lock(&arena.lock);
  struct region *r = &arena.regions[find_region(address)];
  bounds_clear(r);
  r->address = from;
  r->size = size;
  bounds_set(r);
  pthread_mutex_unlock(&arena.lock);
}

int pacc_cpu_arena_holds(uint64_t address, uint64_t size) {
  pthread_mutex_lock(&arena.lock);
  size_t i = find_region(address);
  int inside = 0;
  if (i < arena.n) {
    const struct region *r = &arena.regions[i];
    inside = !r->freed && r->kind <= PACC_CPU_VARIABLE &&
             address >= r->address && size <= r->size &&
             address - r->address <= r->size - size;
  }
  pthread_mutex_unlock(&arena.lock);
  return inside;
}

int pacc_cpu_arena_kind(uint64_t address) {
  pthread_mutex_lock(&arena.lock);
  size_t i = find_region(address);
  int kind = -1;
  if (i < arena.n && !arena.regions[i].freed &&
      address >= arena.regions[i].address)
    kind = (int)arena.regions[i].kind;
  pthread_mutex_unlock(&arena.lock);
  return kind;
}

int pacc_cpu_arena_kind_below(uint64_t address) {
  pthread_mutex_lock(&arena.lock);
  size_t i = find_region(address);
  int kind = -1;
  if (i < arena.n && address < arena.regions[i].low &&
      arena.regions[i].low - address <= 1 * MiB)
    kind = (int)arena.regions[i].kind;
  pthread_mutex_unlock(&arena.lock);
  return kind;
}

/* Bytes between an address and a region, 0 inside of it. */
static uint64_t distance(const struct region *r, uint64_t address) {
  if (address < r->address)
    return r->address - address;
  uint64_t end = r->address + r->size;
  return address < end ? 0 : address - end + 1;
}

static const struct region *nearest_region(uint64_t address) {
  size_t i = find_region(address);
  const struct region *after = i < arena.n ? &arena.regions[i] : NULL;
  const struct region *before = i ? &arena.regions[i - 1] : NULL;
  if (!after || !before)
    return after ? after : before;
  return distance(before, address) < distance(after, address) ? before : after;
}

static void region_text(const struct region *r, char *text, size_t size) {
  unsigned long long bytes = r->size;
  const char *freed = r->freed ? ", which was freed" : "";
  switch (r->kind) {
  case PACC_CPU_MEMORY:
    snprintf(text, size, "a %llu-byte allocation%s", bytes, freed);
    break;
  case PACC_CPU_HEAP:
    snprintf(text, size, "%llu bytes from malloc in a kernel%s", bytes, freed);
    break;
  case PACC_CPU_VARIABLE:
    snprintf(text, size, "the %llu-byte variable '%s'%s", bytes, r->label,
             freed);
    break;
  case PACC_CPU_SHARED:
    snprintf(text, size, "the block's shared memory");
    break;
  case PACC_CPU_STACK:
    snprintf(text, size, "a thread's local memory");
    break;
  case PACC_CPU_WORKER:
    snprintf(text, size, "the kernel's parameters");
    break;
  }
}

int pacc_cpu_arena_describe(uint64_t address, char *text, size_t size) {
  if (address < 64 * KiB) {
    snprintf(text, size, "a null pointer");
    return -1;
  }
  if (!arena.range.base ||
      (address - arena.range.base) >> arena.range.log2 != 0) {
    snprintf(text, size, "a host address, no device memory");
    return -1;
  }
  pthread_mutex_lock(&arena.lock);
  const struct region *r = nearest_region(address);
  int kind = -1;
  char where[128];
  if (!r) {
    snprintf(text, size, "no device memory");
  } else {
    kind = (int)r->kind;
    region_text(r, where, sizeof(where));
    uint64_t far = distance(r, address);
    if (far && address < r->address)
      snprintf(text, size, "%llu bytes before the start of %s",
               (unsigned long long)far, where);
    else if (far)
      snprintf(text, size, "%llu bytes past the end of %s",
               (unsigned long long)(far - 1), where);
    else
      snprintf(text, size, "byte %llu of %s",
               (unsigned long long)(address - r->address), where);
  }
  pthread_mutex_unlock(&arena.lock);
  return kind;
}

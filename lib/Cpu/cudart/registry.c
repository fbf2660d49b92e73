/* registry.c: the kernels and variables of the program. Objects that
 * pacc-cpu-link made register themselves before main. Variables get their
 * places at once; a table finds kernels and variables by the addresses that
 * host code and device code know them by. */
#include "cudart_private.h"

#include "arena.h"
#include "image.h"
#include "random.h"
#include "status.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Clang's table of what host code refers to (llvm/Frontend/Offloading,
 * EntryTy): kernels have the size 0, and their stub's address. */
struct offload_entry {
  uint64_t reserved;
  uint16_t version, kind;
  uint32_t flags;
  const void *address;
  const char *name;
  uint64_t size, data;
  const void *extra;
};
enum { OFFLOAD_CUDA = 2 };

struct item {
  const void *address;
  struct pacc_cpu_kernel *kernel;
  struct pacc_cpu_variable variable;
};

/* Open addressing; never more than half full. */
static struct {
  pthread_mutex_t lock;
  struct item *items;
  size_t n, capacity;
} table = {.lock = PTHREAD_MUTEX_INITIALIZER};

__attribute__((visibility("default"))) struct pacc_cpu_slots pacc_cpu_slots;

/* A program that can't have its variables can't run: there is nobody to tell
 * but the person who started it. */
static _Noreturn void give_up(void) {
  fprintf(stderr, "CPU device: %s\n", pacc_cpu_detail());
  exit(1);
}

static struct item *find_place(struct item *items, size_t capacity,
                               const void *address) {
  size_t i = pacc_mix((uint64_t)(uintptr_t)address) & (capacity - 1);
  while (items[i].address && items[i].address != address)
    i = (i + 1) & (capacity - 1);
  return &items[i];
}

static void grow(void) {
  size_t capacity = table.capacity ? 2 * table.capacity : 64;
  struct item *items = calloc(capacity, sizeof(*items));
  if (!items) {
    pacc_cpu_fail(PACC_CPU_ERROR_OUT_OF_MEMORY, "no memory for kernels");
    give_up();
  }
  for (size_t i = 0; i < table.capacity; i++)
    if (table.items[i].address)
      *find_place(items, capacity, table.items[i].address) = table.items[i];
  free(table.items);
  table.items = items;
  table.capacity = capacity;
}

static void add(const struct item *item) {
  if (2 * table.n >= table.capacity)
    grow();
  struct item *place = find_place(table.items, table.capacity, item->address);
  table.n += !place->address;
  *place = *item;
}

static struct item find(const void *address) {
  struct item item = {0};
  pthread_mutex_lock(&table.lock);
  if (table.capacity)
    item = *find_place(table.items, table.capacity, address);
  pthread_mutex_unlock(&table.lock);
  return item;
}

struct pacc_cpu_kernel *pacc_cudart_kernel(const void *address) {
  return find(address).kernel;
}

int pacc_cudart_variable(const void *address,
                         struct pacc_cpu_variable *variable) {
  *variable = find(address).variable;
  return variable->address != 0;
}

/* -- Images -- */

static uint64_t *place_variables(const struct pacc_cpu_image *image) {
  uint64_t *addresses = calloc(image->n_variables + 1, sizeof(*addresses));
  for (uint64_t i = 0; addresses && i < image->n_variables; i++) {
    const struct pacc_cpu_image_variable *v = &image->variables[i];
    if (pacc_cpu_arena_alloc(PACC_CPU_VARIABLE, v->size, v->align, v->name,
                             &addresses[i]))
      give_up();
    void *place = (void *)(uintptr_t)addresses[i];
    memcpy(place, v->image, v->size);
    if (v->place)
      *v->place = place;
  }
  return addresses;
}

/* Addresses in initial values are those of images until now. */
static void relocate(const struct pacc_cpu_image *image,
                     const uint64_t *addresses) {
  for (uint64_t i = 0; i < image->n_relocations; i++) {
    const struct pacc_cpu_relocation *r = &image->relocations[i];
    char *at = (char *)(uintptr_t)(addresses[r->variable] + r->offset);
    uint64_t value;
    memcpy(&value, at, sizeof(value));
    value -= (uint64_t)(uintptr_t)image->variables[r->target].image;
    value += addresses[r->target];
    memcpy(at, &value, sizeof(value));
  }
}

static void add_entry(const struct pacc_cpu_image *image,
                      const uint64_t *addresses,
                      const struct offload_entry *entry) {
  struct item item = {.address = entry->address};
  if (entry->kind != OFFLOAD_CUDA)
    return;
  for (uint64_t i = 0; !entry->size && i < image->n_kernels; i++)
    if (!strcmp(image->kernels[i].name, entry->name))
      item.kernel = &image->kernels[i];
  for (uint64_t i = 0; entry->size && i < image->n_variables; i++)
    if (!strcmp(image->variables[i].name, entry->name)) {
      item.variable.address = addresses[i];
      item.variable.size = image->variables[i].size;
    }
  if (item.kernel || item.variable.address)
    add(&item);
}

PACC_PUBLIC void PACC_CPU_REGISTER(const struct pacc_cpu_image *image) {
  const struct pacc_cpu_arena *arena = pacc_cpu_arena_get();
  uint64_t *addresses = arena ? place_variables(image) : NULL;
  if (!addresses)
    give_up();
  pacc_cpu_slots = (struct pacc_cpu_slots){
      arena->bounds, (1ull << (arena->log2 - PACC_CPU_SLOT_LOG2)) - 1};
  relocate(image, addresses);
  pthread_mutex_lock(&table.lock);
  for (uint64_t i = 0; i < image->n_kernels; i++) {
    struct pacc_cpu_kernel *kernel = &image->kernels[i];
    struct item item = {.address = (const void *)kernel->entry,
                        .kernel = kernel};
    add(&item);
  }
  for (const struct offload_entry *e = image->entries; e != image->entries_end;
       e++)
    add_entry(image, addresses, e);
  pthread_mutex_unlock(&table.lock);
  free(addresses);
}

/* cuda_memory.c: device memory, pinned host memory and copies of the CUDA
 * backend.
 */
#include "cuda_private.h"

#include <sys/mman.h>

int pacc_cuda_alloc(void *device, uint64_t size, uint64_t *address) {
  (void)device;
  pacc_cu_address memory = 0;
  int status = CHECK(memory_alloc, &memory, size);
  *address = memory;
  return status;
}

void pacc_cuda_free(void *device, uint64_t address) {
  (void)device;
  pacc_cu.memory_free(address);
}

/* What stands before pinned memory. */
struct pinned {
  void *map;
  size_t map_size;
};

/* Huge pages, where there is enough to fill some, are pinned in half the time
 * that cuMemHostAlloc takes. The memory stays out of children: after a fork, a
 * first write would give this process another page than the one that the
 * device writes to. */
int pacc_cuda_host_alloc(void *device, uint64_t size, void **memory) {
  (void)device;
  const uint64_t huge = 2 << 20, page = 64 << 10;
  uint64_t grain = size >= 2 * huge ? huge : page;
  if (size > UINT64_MAX / 2)
    return pacc_cuda_check(NO_HOST_MEMORY, "staging");
  size = (size + grain - 1) & ~(grain - 1);
  size_t map_size = size + 2 * grain;
  char *map = mmap(NULL, map_size, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (map == MAP_FAILED)
    return pacc_cuda_check(NO_HOST_MEMORY, "staging");
  char *made = map + grain + (-(uintptr_t)map & (grain - 1));
  madvise(map, map_size, MADV_DONTFORK);
  if (grain == huge)
    madvise(made, size, MADV_HUGEPAGE);
  int status = CHECK(host_register, made, size, 0);
  if (status) {
    munmap(map, map_size);
    return status;
  }
  ((struct pinned *)(void *)made)[-1] = (struct pinned){map, map_size};
  *memory = made;
  return 0;
}

void pacc_cuda_host_free(void *device, void *memory) {
  (void)device;
  struct pinned pinned = ((struct pinned *)memory)[-1];
  pacc_cu.host_unregister(memory);
  munmap(pinned.map, pinned.map_size);
}

/* The driver's limit on the distance of rows in a 2-D copy. */
static bool fits_2d(const struct cuda_device *cuda, uint64_t to_pitch,
                    uint64_t from_pitch) {
  return to_pitch <= cuda->max_pitch && from_pitch <= cuda->max_pitch;
}

int pacc_cuda_copy_in(void *device, void *stream, uint64_t to,
                      uint64_t to_pitch, const void *from, uint64_t from_pitch,
                      uint64_t width, uint64_t count) {
  if (count == 1)
    return CHECK(copy_in, to, from, width, stream);
  if (fits_2d(device, to_pitch, from_pitch)) {
    struct pacc_cu_copy copy = {.from_type = PACC_CU_MEMORY_HOST,
                                .from_host = from,
                                .from_pitch = from_pitch,
                                .to_type = PACC_CU_MEMORY_DEVICE,
                                .to_device = to,
                                .to_pitch = to_pitch,
                                .width = width,
                                .height = count};
    return CHECK(copy_2d, &copy, stream);
  }
  int status = 0;
  for (uint64_t i = 0; i < count && !status; i++)
    status = CHECK(copy_in, to + i * to_pitch,
                   (const char *)from + i * from_pitch, width, stream);
  return status;
}

int pacc_cuda_copy_out(void *device, void *stream, void *to, uint64_t to_pitch,
                       uint64_t from, uint64_t from_pitch, uint64_t width,
                       uint64_t count) {
  if (count == 1)
    return CHECK(copy_out, to, from, width, stream);
  if (fits_2d(device, to_pitch, from_pitch)) {
    struct pacc_cu_copy copy = {.from_type = PACC_CU_MEMORY_DEVICE,
                                .from_device = from,
                                .from_pitch = from_pitch,
                                .to_type = PACC_CU_MEMORY_HOST,
                                .to_host = to,
                                .to_pitch = to_pitch,
                                .width = width,
                                .height = count};
    return CHECK(copy_2d, &copy, stream);
  }
  int status = 0;
  for (uint64_t i = 0; i < count && !status; i++)
    status = CHECK(copy_out, (char *)to + i * to_pitch, from + i * from_pitch,
                   width, stream);
  return status;
}

int pacc_cuda_copy_within(void *device, void *stream, uint64_t to,
                          uint64_t from, uint64_t size) {
  (void)device;
  return CHECK(copy_within, to, from, size, stream);
}

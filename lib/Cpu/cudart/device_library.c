/* device_library.c: malloc and free in kernels. Each allocation is a region of
 * the arena, so that a wrong access is found. */
#include "device_private.h"

#include "arena.h"
#include "random.h"

static void *allocate(uint64_t size) {
  struct pacc_cudart *device = pacc_cudart_get();
  uint64_t address;
  if (!device || !size)
    return NULL;
  uint64_t before = atomic_fetch_add(&device->heap_used, size);
  if (size > device->heap_limit || before > device->heap_limit - size ||
      pacc_cpu_arena_alloc(PACC_CPU_HEAP, size, 16, NULL, &address)) {
    atomic_fetch_sub(&device->heap_used, size);
    return NULL;
  }
  pacc_poison((void *)(uintptr_t)address, size, device->memory.config.seed);
  return (void *)(uintptr_t)address;
}

static int release(void *memory) {
  struct pacc_cudart *device = pacc_cudart_get();
  uint64_t size;
  int status =
      pacc_cpu_arena_free(PACC_CPU_HEAP, (uint64_t)(uintptr_t)memory, &size);
  if (!status && device)
    atomic_fetch_sub(&device->heap_used, size);
  return status;
}

void *pacc_dev_malloc(uint64_t size) { return allocate(size); }

void pacc_dev_free(void *memory) {
  if (!memory || !release(memory))
    return;
  struct pacc_fault fault = {
      .status = PACC_CPU_ERROR_INVALID_VALUE,
      .text = "free of an address that malloc did not return"};
  pacc_fault_raise(&fault);
}

int pacc_dev_cudaCDP2Malloc(void **memory, uint64_t size) {
  *memory = allocate(size);
  return (int)pacc_device_error(*memory ? cudaSuccess
                                        : cudaErrorMemoryAllocation);
}

int pacc_dev_cudaCDP2Free(void *memory) {
  return (int)pacc_device_error(
      !memory || !release(memory) ? cudaSuccess : cudaErrorInvalidValue);
}

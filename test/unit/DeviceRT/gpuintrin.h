/* gpuintrin.h: stands in for clang's header, so that lib/DeviceRT runs on the
 * emulated GPU of emulator.c. Every atomic is a place where the emulator may
 * go on with another thread. */
#ifndef PACC_TEST_GPUINTRIN_H
#define PACC_TEST_GPUINTRIN_H

#include <stdbool.h>
#include <stdint.h>

/* Static variables of a block: the emulator swaps this section. */
#define __gpu_local __attribute__((section("pacc_shared")))
#define loader_uninitialized used

uint32_t __gpu_thread_id_x(void);
uint32_t __gpu_thread_id_y(void);
uint32_t __gpu_thread_id_z(void);
uint32_t __gpu_num_threads_x(void);
uint32_t __gpu_num_threads_y(void);
uint32_t __gpu_num_threads_z(void);
uint32_t __gpu_block_id_x(void);
uint32_t __gpu_num_blocks_x(void);
uint32_t __gpu_num_blocks_y(void);
uint32_t __gpu_num_blocks_z(void);
uint32_t __gpu_lane_id(void);
uint64_t __gpu_grid_number(void);

uint64_t __gpu_lane_mask(void);
uint64_t __gpu_ballot(uint64_t mask, bool value);
int __nvvm_shfl_sync_idx_i32(uint32_t mask, int value, int lane, int clamp);
int __nvvm_shfl_sync_up_i32(uint32_t mask, int value, int step, int first);
void __gpu_sync_lane(uint64_t mask);
void __gpu_sync_threads(void);
void __nvvm_nanosleep(uint32_t ns);

void emu_yield(void);

#define __scoped_atomic_fetch_add(p, v, o, s)                                  \
  (emu_yield(), __atomic_fetch_add(p, v, __ATOMIC_SEQ_CST))
#define __scoped_atomic_fetch_max(p, v, o, s)                                  \
  (emu_yield(), __atomic_fetch_max(p, v, __ATOMIC_SEQ_CST))
#define __scoped_atomic_load_n(p, o, s)                                        \
  (emu_yield(), __atomic_load_n(p, __ATOMIC_SEQ_CST))
#define __scoped_atomic_store_n(p, v, o, s)                                    \
  (emu_yield(), __atomic_store_n(p, v, __ATOMIC_SEQ_CST))
#define __scoped_atomic_compare_exchange_n(p, e, d, w, so, fo, s)              \
  (emu_yield(), __atomic_compare_exchange_n(p, e, d, w, __ATOMIC_SEQ_CST,      \
                                            __ATOMIC_SEQ_CST))
#define __scoped_atomic_thread_fence(o, s) emu_yield()
#define __nvvm_membar_cta() emu_yield()

#endif

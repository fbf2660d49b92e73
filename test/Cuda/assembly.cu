// Inline assembly: special registers, bits, and instructions on memory.
// RUN: %cuda_cpu %s -o %t
// RUN: %t
// RUN: not %t unknown 2>&1 | FileCheck %s
// CHECK: the CPU device has no version of the inline assembly 'frobnicate.u32
// {{.*}}'

#include "Inputs/check.h"

struct alignas(16) Quad {
  int x, y, z, w;
};

__global__ void memory(int *ints, float *floats, Quad *quads,
                       unsigned long long *longs, signed char *bytes,
                       int *out) {
  int a, b, c, d;
  float f;
  unsigned long long l;
  asm volatile("ld.acquire.gpu.s32 %0, [%1];" : "=r"(a) : "l"(ints));
  asm("ld.global.nc.v4.s32 {%0, %1, %2, %3}, [%4+16];"
      : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
      : "l"(quads));
  out[0] = a + 10 * b + 100 * c + 1000 * d;
  asm volatile("st.release.gpu.global.s32 [%0+4], %1;" ::"l"(out), "r"(7)
               : "memory");
  asm volatile("st.v2.s32 [%0], {%1, %2};" ::"l"(out + 2), "r"(5), "r"(6)
               : "memory");
  asm volatile("atom.add.acq_rel.gpu.s32 %0, [%1], %2;"
               : "=r"(out[4])
               : "l"(ints), "r"(3)
               : "memory");
  asm volatile("atom.cas.b32 %0, [%1], %2, %3;"
               : "=r"(out[5])
               : "l"(ints + 1), "r"(2), "r"(9)
               : "memory");
  asm volatile("red.global.max.s32 [%0], %1;" ::"l"(ints + 2), "r"(-1)
               : "memory");
  asm volatile("atom.global.add.f32 %0, [%1], %2;"
               : "=f"(f)
               : "l"(floats), "f"(0.5f)
               : "memory");
  asm volatile("atom.exch.b64 %0, [%1], %2;"
               : "=l"(l)
               : "l"(longs), "l"(1ull << 40)
               : "memory");
  asm volatile("fence.acq_rel.gpu;" ::: "memory");
  out[6] = static_cast<int>(f * 4) + static_cast<int>(l);
  asm("ld.s8 %0, [%1];" : "=r"(out[7]) : "l"(bytes));
  asm("ld.u8 %0, [%1];" : "=r"(out[8]) : "l"(bytes));
}

__global__ void bits(unsigned *out, unsigned *registers) {
  unsigned long long l;
  asm("bfi.b32 %0, %1, %2, 8, 4;"
      : "=r"(out[0])
      : "r"(0xabu), "r"(0xffffffffu));
  asm("bfe.u32 %0, %1, 4, 8;" : "=r"(out[1]) : "r"(0x12345678u));
  asm("bfe.s32 %0, %1, %2, %3;"
      : "=r"(out[2])
      : "r"(0x80000000u), "r"(28), "r"(8));
  asm("bfind.u32 %0, %1;" : "=r"(out[3]) : "r"(0x00010000u));
  asm("shf.l.wrap.b32 %0, %1, %2, %3;"
      : "=r"(out[4])
      : "r"(0x80000001u), "r"(0x1u), "r"(36));
  asm("bfi.b64 %0, %1, %2, 60, 8;" : "=l"(l) : "l"(0xffull), "l"(1ull));
  out[5] = static_cast<unsigned>(l >> 32);
  asm("mov.u32 %0, %%laneid;" : "=r"(registers[threadIdx.x]));
}

// As CUB finds the lanes with the same bit.
__global__ void alike(unsigned *out) {
  unsigned t = threadIdx.x, mask;
  asm("{\n"
      "    .reg .pred p;\n"
      "    and.b32 %0, %1, %2;"
      "    setp.ne.u32 p, %0, 0;\n"
      "    vote.ballot.sync.b32 %0, p, 0xffffffff;\n"
      "    @!p not.b32 %0, %0;\n"
      "}\n"
      : "=r"(mask)
      : "r"(t), "r"(4));
  out[t] = mask;
}

__global__ void unknown(unsigned *out) {
  asm("frobnicate.u32 %0, %1;" : "=r"(out[0]) : "r"(1));
}

template <typename T> static T *copy(const T *from, int n) {
  T *to;
  OK(cudaMalloc(&to, n * sizeof(T)));
  OK(cudaMemcpy(to, from, n * sizeof(T), cudaMemcpyHostToDevice));
  return to;
}

int main(int argc, char **) {
  int ints[3] = {1, 2, -5}, out[40] = {};
  float floats[1] = {1.25f};
  Quad quads[2] = {{0, 0, 0, 0}, {1, 2, 3, 4}};
  unsigned long long longs[1] = {30};
  signed char bytes[1] = {-3};
  int *device_ints = copy(ints, 3), *device_out = copy(out, 40);
  if (argc > 1) {
    unknown<<<1, 1>>>(reinterpret_cast<unsigned *>(device_out));
    return cudaDeviceSynchronize() != cudaSuccess;
  }
  memory<<<1, 1>>>(device_ints, copy(floats, 1), copy(quads, 2), copy(longs, 1),
                   copy(bytes, 1), device_out);
  OK(cudaMemcpy(out, device_out, sizeof out, cudaMemcpyDeviceToHost));
  OK(cudaMemcpy(ints, device_ints, sizeof ints, cudaMemcpyDeviceToHost));
  CHECK(out[0] == 4321 && out[1] == 7 && out[2] == 5 && out[3] == 6);
  CHECK(out[4] == 1 && ints[0] == 4 && out[5] == 2 && ints[1] == 9);
  CHECK(ints[2] == -1 && out[6] == 35 && out[7] == -3 && out[8] == 253);
  unsigned *device_bits = reinterpret_cast<unsigned *>(device_out), got[40];
  bits<<<1, 34>>>(device_bits, device_bits + 6);
  OK(cudaMemcpy(got, device_out, sizeof got, cudaMemcpyDeviceToHost));
  CHECK(got[0] == 0xfffffbff && got[1] == 0x67 && got[2] == 0xfffffff8);
  CHECK(got[3] == 16 && got[4] == 0x18 && got[5] == 0xf0000000);
  alike<<<1, 32>>>(device_bits);
  unsigned masks[32];
  OK(cudaMemcpy(masks, device_bits, sizeof masks, cudaMemcpyDeviceToHost));
  CHECK(masks[0] == 0x0f0f0f0f && masks[31] == 0xf0f0f0f0);
  CHECK(got[6] == 0 && got[37] == 31 && got[38] == 0 && got[39] == 1);
  return 0;
}

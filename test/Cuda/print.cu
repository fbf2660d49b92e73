// printf in kernels.
// RUN: %cuda_cpu -Wno-format %s -o %t
// RUN: %t | FileCheck %s --match-full-lines --strict-whitespace

#include <cstdio>

// CHECK:integers: -5 4000000000 ff FF 17 +7 0x1f 00042|  42|42  |
// CHECK-NEXT:sizes: 255 -1 -9000000000 18446744073709551615 7
// CHECK-NEXT:reals: 0.500000 1.25e+10 3.14 0x1p+0 -2.5
// CHECK-NEXT:text: kernel|    k|ke | % c
// CHECK-NEXT:stars:   9|2.50|
// CHECK-NEXT:1 2 + results: 3 0 -1
// CHECK-NEXT:no arguments
// CHECK-NEXT:block 0 thread 0
// CHECK-NEXT:block 0 thread 1
// CHECK-NEXT:block 1 thread 0
// CHECK-NEXT:block 1 thread 1

__device__ const char text[] = "kernel";

__global__ void formats() {
  printf("integers: %d %u %x %X %o %+d %#x %05d|%4d|%-4d|\n", -5, 4000000000u,
         255, 255, 15, 7, 31, 42, 42, 42);
  printf("sizes: %hhu %hd %lld %llu %zu\n", 255, -1, -9000000000ll,
         18446744073709551615ull, sizeof(int) + 3);
  printf("reals: %f %.3g %.2f %a %g\n", 0.5, 1.25e10, 3.14159f, 1.0, -2.5f);
  printf("text: %s|%5c|%-3.2s| %% %c\n", text, 'k', text, 'c');
  printf("stars: %*d|%.*f|\n", 3, 9, 2, 2.5);
  int three = printf("%d %d %s", 1, 2, "+ "), none = printf(""), bad = printf("%");
  printf("results: %d %d %d\n", three, none, bad);
  printf("no arguments\n");
}

__global__ void threads() { printf("block %u thread %u\n", blockIdx.x, threadIdx.x); }

int main() {
  formats<<<1, 1>>>();
  threads<<<2, 2>>>();
  return cudaDeviceSynchronize() != cudaSuccess;
}

// The order of what kernels launch: in a block's NULL stream and a thread's own
// one after the other, in others in any order; a tail launch after everything.
// RUN: %cuda_cpu %s -o %t
// RUN: %t natural
// RUN: env PACC_CPU_SEED=1 %t any
// RUN: env PACC_CPU_SEED=2 %t any
// RUN: env PACC_CPU_SEED=3 PACC_CPU_THREADS=3 %t any

#include "Inputs/check.h"

#include <cstring>

__device__ int slots[4096];
__device__ int next_slot;

__global__ void note(int what) { slots[atomicAdd(&next_slot, 1)] = what; }

// Thread t of block b launches 3 times: 100 b + 10 t + 0, 1, 2.
__global__ void inBlockStream() {
  for (int i = 0; i < 3; i++)
    note<<<1, 1>>>(100 * blockIdx.x + 10 * threadIdx.x + i);
}
__global__ void inThreadStream() {
  for (int i = 0; i < 3; i++)
    note<<<1, 1, 0, cudaStreamPerThread>>>(100 * blockIdx.x + 10 * threadIdx.x +
                                           i);
}
__global__ void forgotten() {
  for (int i = 0; i < 8; i++)
    note<<<1, 1, 0, cudaStreamFireAndForget>>>(i);
}
// A child that launches children of its own is over when they are.
__global__ void deep(int what) {
  note<<<1, 1>>>(what);
  if (what % 10 < 3)
    deep<<<1, 1>>>(what + 1);
}
__global__ void nested() {
  deep<<<1, 1>>>(10);
  deep<<<1, 1>>>(20);
}
__global__ void tails() {
  note<<<1, 1, 0, cudaStreamTailLaunch>>>(100);
  note<<<1, 1, 0, cudaStreamTailLaunch>>>(101);
  deep<<<1, 1>>>(10);
  note<<<1, 1, 0, cudaStreamFireAndForget>>>(50);
}
// A stream of the kernel's own, and an event between two.
__global__ void named() {
  cudaStream_t a, b;
  cudaEvent_t event;
  cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
  cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
  note<<<1, 1, 0, a>>>(1);
  note<<<1, 1, 0, a>>>(2);
  cudaEventRecord(event, a);
  cudaStreamWaitEvent(b, event, 0);
  note<<<1, 1, 0, b>>>(3);
  note<<<1, 1, 0, b>>>(4);
  cudaEventDestroy(event);
  cudaStreamDestroy(a);
  cudaStreamDestroy(b);
}
// Copies and fills are in the order of the stream, too.
__device__ int cell[3];
__global__ void setCell(int i, int value) { cell[i] = value; }
__global__ void copying() {
  setCell<<<1, 1>>>(0, 5);
  cudaMemcpyAsync(&cell[1], &cell[0], sizeof(int), cudaMemcpyDeviceToDevice, 0);
  cudaMemsetAsync(&cell[0], 0, sizeof(int), 0);
  cudaMemcpyAsync(&cell[2], &cell[0], sizeof(int), cudaMemcpyDeviceToDevice, 0);
  setCell<<<1, 1>>>(0, 9);
}

static int got[4096];
static int n_got;

template <typename Launch> static void run(Launch launch) {
  int zero = 0;
  OK(cudaMemcpyToSymbol(next_slot, &zero, sizeof zero));
  launch();
  OK(cudaGetLastError());
  OK(cudaDeviceSynchronize());
  OK(cudaMemcpyFromSymbol(&n_got, next_slot, sizeof n_got));
  OK(cudaMemcpyFromSymbol(got, slots, sizeof got));
}

static int place(int what) {
  for (int i = 0; i < n_got; i++)
    if (got[i] == what)
      return i;
  CHECK(!"launched");
  return -1;
}
static bool isSorted() {
  for (int i = 1; i < n_got; i++)
    if (got[i - 1] > got[i])
      return false;
  return true;
}

int main(int argc, char **argv) {
  bool any = argc > 1 && !strcmp(argv[1], "any");
  bool mixed_blocks = false, mixed_threads = false, mixed_forgotten = false;
  for (int round = 0; round < 20; round++) {
    run([] { inBlockStream<<<3, 4>>>(); });
    CHECK(n_got == 36);
    for (int b = 0; b < 3; b++)
      for (int t = 0; t < 4; t++)
        for (int i = 0; i < 3; i++) {
          int here = place(100 * b + 10 * t + i);
          CHECK(i == 0 || here > place(100 * b + 10 * t + i - 1));
          // A thread launches all three before another does: they are together.
          CHECK(t == 3 ||
                (place(100 * b + 10 * t) < place(100 * b + 10 * t + 10)) ==
                    (here < place(100 * b + 10 * t + 10)));
        }
    mixed_blocks |= !isSorted();

    run([] { inThreadStream<<<2, 8>>>(); });
    CHECK(n_got == 48);
    for (int b = 0; b < 2; b++)
      for (int t = 0; t < 8; t++)
        for (int i = 1; i < 3; i++)
          CHECK(place(100 * b + 10 * t + i) > place(100 * b + 10 * t + i - 1));
    for (int i = 1; i < 48; i++)
      mixed_threads |= got[i] / 10 != got[i - 1] / 10 && got[i] % 10;

    run([] { forgotten<<<1, 1>>>(); });
    CHECK(n_got == 8);
    mixed_forgotten |= !isSorted();

    run([] { nested<<<1, 1>>>(); });
    CHECK(n_got == 8 && isSorted());

    run([] { tails<<<1, 1>>>(); });
    CHECK(n_got == 7 && got[5] == 100 && got[6] == 101);

    run([] { named<<<1, 1>>>(); });
    CHECK(n_got == 4 && isSorted());

    run([] { copying<<<1, 1>>>(); });
    int cells[3];
    OK(cudaMemcpyFromSymbol(cells, cell, sizeof cells));
    CHECK(cells[0] == 9 && cells[1] == 5 && cells[2] == 0);
  }
  CHECK(mixed_threads);
  CHECK(any == mixed_forgotten);
  CHECK(!any || mixed_blocks);
  return 0;
}

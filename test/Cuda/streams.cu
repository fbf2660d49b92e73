// Streams and events of the host.
// RUN: %cuda_cpu %s -o %t
// RUN: %t natural
// RUN: env PACC_CPU_SEED=1 %t any
// RUN: env PACC_CPU_SEED=2 %t any
// RUN: %cuda_cpu -DCUDA_API_PER_THREAD_DEFAULT_STREAM=1 %s -o %t.own
// RUN: env PACC_CPU_SEED=1 %t.own any

#include "Inputs/check.h"

#include <cstring>
#include <thread>
#include <vector>

__device__ int slots[256];
__device__ int next_slot;
__global__ void note(int what) { slots[atomicAdd(&next_slot, 1)] = what; }

__global__ void child(int what) { slots[atomicAdd(&next_slot, 1)] = what; }
__global__ void parent(int what) { child<<<1, 1>>>(what); }

__global__ void wait(long long ns) {
  long long until = clock64() + ns;
  while (clock64() < until)
    ;
}

static int got[256], n_got;

static void begin() {
  int zero = 0;
  OK(cudaDeviceSynchronize());
  OK(cudaMemcpyToSymbol(next_slot, &zero, sizeof zero));
}
static void end() {
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

static void called(void *data) { ++*static_cast<int *>(data); }
static void calledBack(cudaStream_t, cudaError_t error, void *data) {
  if (error == cudaSuccess)
    ++*static_cast<int *>(data);
}

int main(int argc, char **argv) {
  bool any = argc > 1 && !strcmp(argv[1], "any"), mixed = false;
  cudaStream_t a, b, free_a, free_b;
  OK(cudaStreamCreate(&a));
  OK(cudaStreamCreateWithFlags(&b, cudaStreamDefault));
  OK(cudaStreamCreateWithFlags(&free_a, cudaStreamNonBlocking));
  OK(cudaStreamCreateWithPriority(&free_b, cudaStreamNonBlocking, -1));

  // A stream is in order, also when its grids launch others.
  for (int round = 0; round < 20; round++) {
    begin();
    for (int i = 0; i < 5; i++) {
      parent<<<1, 1, 0, free_a>>>(i);
      note<<<1, 1, 0, free_b>>>(10 + i);
    }
    end();
    CHECK(n_got == 10);
    for (int i = 1; i < 5; i++)
      CHECK(place(i) > place(i - 1) && place(10 + i) > place(9 + i));
    for (int i = 1; i < 10; i++)
      mixed |= got[i] < got[i - 1] && got[i - 1] - got[i] != 10;

    // The legacy stream waits for blocking streams, and they for it.
    begin();
    note<<<1, 1, 0, a>>>(1);
    note<<<1, 1, 0, b>>>(2);
    note<<<1, 1, 0, cudaStreamLegacy>>>(3);
    note<<<1, 1, 0, b>>>(4);
    note<<<1, 1, 0, a>>>(5);
    end();
    CHECK(place(3) == 2);

    // Events order streams that would not be.
    cudaEvent_t event;
    OK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    begin();
    parent<<<1, 1, 0, free_a>>>(1);
    OK(cudaEventRecord(event, free_a));
    OK(cudaStreamWaitEvent(free_b, event, 0));
    note<<<1, 1, 0, free_b>>>(2);
    OK(cudaEventRecord(event, free_b));
    OK(cudaStreamWaitEvent(free_a, event, 0));
    note<<<1, 1, 0, free_a>>>(3);
    OK(cudaEventDestroy(event));
    end();
    CHECK(n_got == 3 && got[0] == 1 && got[1] == 2 && got[2] == 3);
  }
  CHECK(!any || mixed);

  // Times, queries, and waiting for one stream alone.
  cudaEvent_t from, to;
  OK(cudaEventCreate(&from));
  OK(cudaEventCreate(&to));
  float ms;
  CHECK(cudaEventElapsedTime(&ms, from, to) == cudaErrorInvalidResourceHandle);
  OK(cudaEventQuery(from));
  OK(cudaEventRecord(from, free_a));
  wait<<<1, 1, 0, free_a>>>(2000000);
  OK(cudaEventRecord(to, free_a));
  CHECK(cudaEventElapsedTime(&ms, from, to) == cudaErrorNotReady);
  OK(cudaEventSynchronize(to));
  OK(cudaEventElapsedTime(&ms, from, to));
  CHECK(ms >= 2);
  note<<<1, 1, 0, free_a>>>(0);
  note<<<1, 1, 0, free_a>>>(1);
  note<<<1, 1, 0, free_a>>>(2);
  int n_queries = 0;
  while (cudaStreamQuery(free_a) == cudaErrorNotReady)
    n_queries++;
  CHECK(n_queries >= 2);
  (void)cudaGetLastError();

  // Host functions run when their turn comes.
  int n_calls = 0;
  OK(cudaLaunchHostFunc(free_a, called, &n_calls));
  OK(cudaStreamAddCallback(free_a, calledBack, &n_calls, 0));
  CHECK(n_calls == 0);
  OK(cudaStreamSynchronize(free_a));
  CHECK(n_calls == 2);

  // So they do if the program waits for them by itself.
  volatile int flag = 0;
  OK(cudaLaunchHostFunc(free_a, called, const_cast<int *>(&flag)));
  while (!flag)
    std::this_thread::yield();

  // What is in a destroyed stream still runs; its handle is none any more.
  begin();
  cudaStream_t gone;
  OK(cudaStreamCreate(&gone));
  note<<<1, 1, 0, gone>>>(9);
  OK(cudaStreamDestroy(gone));
  end();
  CHECK(n_got == 1 && got[0] == 9);
  CHECK(cudaStreamSynchronize(gone) == cudaErrorInvalidResourceHandle);
  CHECK(cudaStreamDestroy(gone) == cudaErrorInvalidResourceHandle);
  (void)cudaGetLastError();

  unsigned flags;
  int priority, least, greatest;
  OK(cudaStreamGetFlags(free_b, &flags));
  OK(cudaStreamGetPriority(free_b, &priority));
  OK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  CHECK(flags == cudaStreamNonBlocking && priority == -1 && greatest < least);

  // Several host threads, each with its own stream and errors.
  begin();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; t++)
    threads.emplace_back([t] {
      for (int i = 0; i < 10; i++)
        note<<<1, 1, 0, cudaStreamPerThread>>>(10 * t + i);
      if (t == 0) {
        CHECK(cudaStreamDestroy(nullptr) == cudaErrorInvalidResourceHandle);
        CHECK(cudaGetLastError() == cudaErrorInvalidResourceHandle);
      }
      OK(cudaStreamSynchronize(cudaStreamPerThread));
      OK(cudaGetLastError());
    });
  for (std::thread &thread : threads)
    thread.join();
  end();
  CHECK(n_got == 40);
  for (int i = 0; i < 40; i++)
    CHECK(i % 10 == 0 || place(i) > place(i - 1));
  return 0;
}

// CUDA code through clang at every level and for several architectures: the
// result assembles, and remarks name the line of the launch.
//
// REQUIRES: cuda, ptxas
// DEFINE: %{level} =
// DEFINE: %{cuda} = %clangxx --cuda-path=%cuda -Wno-unknown-cuda-version -fgpu-rdc --cuda-device-only -fpass-plugin=%plugin -mllvm -polly-acc-agg%{level} %s
// RUN: %{cuda} --cuda-gpu-arch=sm_90 -O0 -c -o %t.o
// RUN: %{cuda} --cuda-gpu-arch=sm_90 -O2 -c -o %t.o -Rpass=polly-acc-agg -Rpass-analysis=polly-acc-agg 2>&1 | %FileCheck %s
// RUN: %{cuda} --cuda-gpu-arch=sm_90 -O2 -S -emit-llvm -o - | %FileCheck %s --check-prefix=IR
// REDEFINE: %{level} = =warp
// RUN: %{cuda} --cuda-gpu-arch=sm_100 -O3 -DCUDA_API_PER_THREAD_DEFAULT_STREAM=1 -c -o %t.o
// REDEFINE: %{level} = =block
// RUN: %{cuda} --cuda-gpu-arch=sm_75 -O1 -g -c -o %t.o

struct Item {
  double weight;
  short tag[5];
};

template <typename T> __device__ T scaled(T value) {
  return value * static_cast<T>(blockDim.y);
}

template <typename T>
__global__ void child(T *out, bool twice, Item item, const char name) {
  __shared__ T sum[64];
  extern __shared__ int more[];
  const unsigned t = threadIdx.x + blockDim.x * threadIdx.y;
  sum[t % 64] = scaled<T>(static_cast<T>(item.weight));
  more[t] = item.tag[t % 5];
  __syncthreads();
  atomicAdd(out + blockIdx.z * gridDim.x, sum[0] + more[0] + name + twice);
}

__global__ void __launch_bounds__(128) tree(int *out, int depth) {
  if (depth == 0 || threadIdx.x > 1)
    return;
  // CHECK-DAG: compile.cu:[[@LINE+2]]:3: remark: launches of 'tree' are merged over the grid: each thread launches at most once here
  // CHECK-DAG: compile.cu:[[@LINE+1]]:3: remark: launches of different threads of a block are no longer ordered
  tree<<<2, 2>>>(out, depth - 1);
  atomicAdd(out, 1);
}

__global__ void parent(float *f, double *d, int *n) {
  const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
  if (n[t] > 0)
    // CHECK-DAG: compile.cu:[[@LINE+1]]:5: remark: launches of 'void child<float>' are merged over the grid
    child<float><<<dim3(n[t], 2, 3), dim3(4, n[t]), 4096>>>(f, t & 1, {1.0 * t, {}}, 'x');
  else
    // CHECK-DAG: compile.cu:[[@LINE+1]]:5: remark: launches of 'void child<double>' are merged over the grid
    child<double><<<1, 32, 8192>>>(d, true, {0.5, {}}, 'y');
}

// Templates' aggregated versions are as mergeable as the templates, launch
// bounds become one-dimensional, and the runtime is not left to be called.
// IR-DAG: define {{.*}}ptx_kernel void @_Z4treePii__pacc_agg(ptr {{.*}}) {{.*}} #[[bounds:[0-9]+]]
// IR-DAG: define weak_odr {{.*}}ptx_kernel void @_Z5childIfEvPT_b4Itemc__pacc_agg(
// IR-DAG: define weak_odr {{.*}}ptx_kernel void @_Z5childIdEvPT_b4Itemc__pacc_agg(
// IR-DAG: attributes #[[bounds]] = {{.*}}"nvvm.maxntid"="128"
// IR-NOT: call {{.*}}@__pacc_dev_launch_warp
// IR-NOT: call {{.*}}@__pacc_dev_grid_record
// IR-NOT: call {{.*}}@__pacc_dev_child

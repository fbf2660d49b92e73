; undefined.ll: a kernel that uses a variable of another module.
target triple = "nvptx64-nvidia-cuda"

@missing = external addrspace(1) global i32

define ptx_kernel void @use(ptr %out) {
  %v = load i32, ptr addrspace(1) @missing, align 4
  store i32 %v, ptr %out, align 4
  ret void
}

"""Random CUDA programs whose kernels launch kernels.

`program(seeds)` is the text of one program with one case per seed. Run without
arguments it prints a line per case: the seed and checksums of what its kernels
wrote. These do not depend on the order in which CUDA may run things:

- `sum`: every kernel adds to it, atomically;
- `chain[i]`: changed only by kernels of one thread that thread i of the first
  kernel launches into one stream, so that they run in that thread's order.

Cases have divergent launches, loops, switches, early returns, nested and
recursive launches, helper functions (some of which are not inlined), streams of
all kinds, shared memory, barriers, warp operations, and arguments of many types.
"""

from __future__ import annotations

import random
from collections.abc import Iterable

PRELUDE = """\
#include <cstdio>
#include <cstdlib>
#include <vector>

typedef unsigned long long Word;

#define CHECK(call)                                                            \\
  if (cudaError_t e = (call)) {                                                \\
    printf("%s: %s\\n", #call, cudaGetErrorString(e));                          \\
    exit(2);                                                                   \\
  }

__device__ inline unsigned mix(unsigned x) {
  x = (x ^ x >> 16) * 0x45d9f3bu;
  x = (x ^ x >> 16) * 0x45d9f3bu;
  return x ^ x >> 16;
}

// All registers of the thread.
__device__ inline unsigned place() {
  unsigned h = mix(gridDim.x + 7 * gridDim.y + 49 * gridDim.z);
  h = mix(h ^ (blockDim.x + 65 * blockDim.y + 4225 * blockDim.z));
  h = mix(h ^ (blockIdx.x + 1000 * blockIdx.y + 1000000 * blockIdx.z));
  return mix(h ^ (threadIdx.x + 1024 * threadIdx.y + 1048576 * threadIdx.z));
}

__device__ inline unsigned rank() {
  return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}

// Whether this is the grid's first block.
__device__ inline bool first() {
  return (blockIdx.x | blockIdx.y | blockIdx.z) == 0;
}

__device__ inline unsigned size() {
  return blockDim.x * blockDim.y * blockDim.z;
}

__global__ void link(unsigned *chain, unsigned factor, unsigned add) {
  *chain = *chain * factor + add;
}

__global__ void join(unsigned *chain, const unsigned *other) {
  *chain = *chain * 3 + *other;
}
"""

MAIN = """\

typedef void (*Case)(unsigned *sum, unsigned *chain, unsigned *copy);

static void run(int seed, Case start) {
  constexpr int count = 1024;
  unsigned *data;
  CHECK(cudaMalloc(&data, 3 * count * sizeof *data));
  CHECK(cudaMemset(data, 0, 3 * count * sizeof *data));
  start(data, data + count, data + 2 * count);
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  std::vector<unsigned> got(3 * count);
  CHECK(cudaMemcpy(got.data(), data, 3 * count * sizeof *data,
                   cudaMemcpyDeviceToHost));
  CHECK(cudaFree(data));
  Word hash[2] = {};
  for (int i = 0; i < 2 * count; ++i)
    hash[i / count] = (hash[i / count] ^ got[i]) * 0x100000001b3ull;
  printf("%d %016llx %016llx\\n", seed, hash[0], hash[1]);
  fflush(stdout);
}

int main() {
  // Without merging there are more launches than the default lets wait.
  CHECK(cudaDeviceSetLimit(cudaLimitDevRuntimePendingLaunchCount, 1 << 18));
"""

# C++ type, a value of it from the unsigned x, an unsigned from the parameter.
TYPES = [
    ("unsigned", "{x}", "{p}"),
    ("char", "static_cast<char>({x} % 100)", "static_cast<unsigned>({p})"),
    ("short", "static_cast<short>({x} % 10000)", "static_cast<unsigned>({p})"),
    ("bool", "({x} & 1) != 0", "({p} ? 17u : 5u)"),
    ("double", "({x} % 1000) * 0.5", "static_cast<unsigned>({p} * 2)"),
    ("float", "({x} % 1000) * 0.25f", "static_cast<unsigned>({p} * 4)"),
    ("Word", "{x} * 0x100000001ull", "static_cast<unsigned>({p} >> 32 ^ {p})"),
    ("dim3", "dim3({x} % 9, 2, {x} % 5)", "({p}.x + 10 * {p}.y + 100 * {p}.z)"),
    ("Pack", "Pack{{{{1, 2, static_cast<char>({x} % 50)}}, {x} * 0.5, 7}}",
     "({p}.c[2] + static_cast<unsigned>({p}.d) + {p}.s)"),
]  # fmt: skip

STREAMS = ["0", "0", "0", "cudaStreamPerThread", "cudaStreamFireAndForget"]


class Kernel:
    """A kernel that others may launch: its name and parameters."""

    def __init__(self, name: str, types: list[tuple[str, str, str]], dynamic: bool):
        self.name = name
        self.types = types
        self.dynamic = dynamic

    def parameters(self) -> str:
        """The parameter list."""
        own = "".join(f", {t[0]} p{i}" for i, t in enumerate(self.types))
        return f"unsigned *sum, unsigned depth, unsigned x{own}"

    def arguments(self, depth: str, x: str) -> str:
        """Arguments that depend on x."""
        own = "".join(", " + t[1].format(x=x) for t in self.types)
        return f"sum, {depth}, {x}{own}"


class Case:
    """The text of one seed's case."""

    def __init__(self, seed: int):
        self.random = random.Random(seed)
        self.seed = seed
        self.lines: list[str] = []
        self.indent = 1
        self.names = 0
        self.kernels: list[Kernel] = []
        self.helpers: list[str] = []
        # What the code that is being written may do.
        self.launches = 0
        self.may_return = True
        self.in_loop = 0
        self.chain = False

    # Text.

    def add(self, line: str) -> None:
        """One line of code."""
        self.lines.append("  " * self.indent + line)

    def fresh(self) -> str:
        """A new variable's name."""
        self.names += 1
        return f"v{self.names}"

    def chance(self, part: float) -> bool:
        """True in that part of all cases."""
        return self.random.random() < part

    def condition(self) -> str:
        """Divergent, as a rule."""
        r = self.random
        return r.choice(
            [
                f"x % {r.randint(2, 7)} == {r.randint(0, 1)}",
                f"rank() % {r.randint(2, 5)} != {r.randint(0, 1)}",
                f"(x >> {r.randint(0, 9)} & 3) {r.choice(['==', '<', '>'])} {r.randint(1, 2)}",
                f"blockIdx.x % 2 == {r.randint(0, 1)}",
            ]
        )

    # Statements.

    def launch(self, few: bool) -> None:
        """A launch; `few`: from a few threads of the block only."""
        r = self.random
        if self.launches == 0 or not self.kernels:
            return
        self.launches -= 1
        k = r.choice(self.kernels)
        shape = r.randrange(4)
        grid = ["1", f"1 + x % {r.randint(2, 5)}", f"dim3(1 + x % 3, {r.randint(1, 2)})",
                f"dim3(1, 1 + x % 2, {r.randint(1, 2)})"][shape]  # fmt: skip
        block = [f"1 + x % {r.randint(2, 70)}", str(r.choice([1, 7, 32, 33, 64])),
                 f"dim3(1 + x % 9, {r.randint(1, 4)})",
                 f"dim3(2, 1 + x % 3, {r.randint(1, 3)})"][r.randrange(4)]  # fmt: skip
        stream = r.choice(STREAMS)
        shared = "2048" if k.dynamic else "0"
        guard = "depth > 0"
        if few:
            guard += f" && first() && rank() == {r.choice(['0', 'size() - 1'])}"
        value = f"mix(x + {r.randint(1, 1000)})"
        self.add(f"if ({guard})")
        self.add(
            f"  {k.name}<<<{grid}, {block}, {shared}, {stream}>>>"
            f"({k.arguments('depth - 1', value)});"
        )

    def chain_step(self) -> None:
        """One more launch in the thread's order."""
        r = self.random
        kind = r.randrange(6)
        if kind == 0:
            self.add("cudaMemcpyAsync(copy + i, chain + i, sizeof *chain,")
            self.add("                cudaMemcpyDeviceToDevice, 0);")
            self.add("join<<<1, 1>>>(chain + i, copy + i);")
        else:
            add = r.choice(["x", "i", str(r.randint(1, 99))])
            self.add(f"link<<<1, 1>>>(chain + i, {r.choice([1, 3, 5])}, {add});")

    def statement(self, depth: int, few: bool) -> None:
        """A random statement."""
        r = self.random
        if self.chain and self.chance(0.25):
            self.chain_step()
            return
        kinds = ["mix", "add", "launch", "launch", "launch", "call"]
        if depth > 0:
            kinds += ["if", "if", "switch"]
            # One loop in another would launch too much.
            kinds += [] if self.in_loop else ["for", "while"]
        if self.in_loop:
            # `break` may leave a switch instead.
            kinds += ["break", "continue"]
        elif self.may_return and depth < 2:
            kinds.append("return")
        getattr(self, "make_" + r.choice(kinds))(depth, few)

    def make_mix(self, depth: int, few: bool) -> None:
        """Arithmetic."""
        self.add(f"x = mix(x + {self.random.randint(1, 99)});")

    def make_add(self, depth: int, few: bool) -> None:
        """A result."""
        self.add(f"atomicAdd(sum + x % 1024, {self.random.randint(1, 99)} + x);")

    def make_launch(self, depth: int, few: bool) -> None:
        """A launch."""
        self.launch(few)

    def block_of(self, depth: int, few: bool, least: int = 1) -> None:
        """Statements, further in."""
        self.indent += 1
        for _ in range(self.random.randint(least, 3)):
            self.statement(depth - 1, few)
        self.indent -= 1

    def make_if(self, depth: int, few: bool) -> None:
        """A branch."""
        self.add(f"if ({self.condition()}) {{")
        self.block_of(depth, few)
        if self.chance(0.5):
            self.add("} else {")
            self.block_of(depth, few)
        self.add("}")

    def make_for(self, depth: int, few: bool) -> None:
        """A loop whose trips differ from thread to thread."""
        v = self.fresh()
        self.add(f"for (unsigned {v} = 0; {v} < x % {self.random.randint(2, 4)}; ++{v}) {{")
        self.in_loop += 1
        self.add(f"  x = mix(x + {v});")
        self.block_of(depth, few)
        self.in_loop -= 1
        self.add("}")

    def make_while(self, depth: int, few: bool) -> None:
        """A loop that ends by a count."""
        v = self.fresh()
        self.add(f"unsigned {v} = {self.random.randint(1, 3)};")
        self.add(f"while ({v}-- > 0) {{")
        self.in_loop += 1
        self.block_of(depth, few)
        self.in_loop -= 1
        self.add("}")

    def make_switch(self, depth: int, few: bool) -> None:
        """A switch, some cases of which fall through."""
        count = self.random.randint(2, 4)
        self.add(f"switch (x % {count + 1}) {{")
        for case in range(count):
            self.add(f"case {case}: {{")
            self.block_of(depth, few)
            self.add("} break;" if self.chance(0.7) else "}")
        self.add("default:")
        self.add(f"  x = mix(x ^ {self.random.randint(1, 9)});")
        self.add("}")

    def make_call(self, depth: int, few: bool) -> None:
        """A call of a helper."""
        if self.helpers:
            self.add(f"x ^= {self.random.choice(self.helpers)}(sum, depth, x);")

    def make_break(self, depth: int, few: bool) -> None:
        """Leaves the loop."""
        self.add(f"if ({self.condition()})")
        self.add("  break;")

    def make_continue(self, depth: int, few: bool) -> None:
        """Goes on with the loop."""
        self.add(f"if ({self.condition()})")
        self.add("  continue;")

    def make_return(self, depth: int, few: bool) -> None:
        """Leaves the kernel."""
        self.add(f"if ({self.condition()})")
        self.add("  return;")

    def together(self, kernel: Kernel) -> None:
        """What all threads of a block do together: shared memory, a warp."""
        r = self.random
        if kernel.dynamic:
            self.add("extern __shared__ unsigned values[];")
        elif self.chance(0.5):
            self.add("__shared__ unsigned values[512];")
        else:
            return
        self.add("values[rank()] = x;")
        self.add("__syncthreads();")
        self.add(f"x += values[(rank() + {r.randint(1, 40)}) % size()];")
        if self.chance(0.5):
            self.add("unsigned lanes = size() - rank() / 32 * 32;")
            self.add("unsigned alive = lanes < 32 ? (1u << lanes) - 1 : 0xffffffff;")
            self.add("x ^= __popc(__ballot_sync(alive, x & 1));")
            self.add("x += __shfl_sync(alive, x, 0);")
        if self.chance(0.3):
            self.add("__syncthreads();")
            self.add("if (rank() == 0)")
            self.add("  values[0] = x;")
            self.add("__syncthreads();")
            self.add("x ^= values[0];")

    # The whole.

    def body(self, statements: int, few: bool, launches: int) -> None:
        """Statements of a function."""
        self.launches = launches
        first = self.random.randrange(statements)
        for number in range(statements):
            if number == first:
                self.launch(few)
            self.statement(3, few)

    def helper(self, number: int) -> None:
        """A device function, which may launch."""
        name = f"helper{number}"
        how = " __noinline__" if self.chance(0.3) else ""
        self.add(f"__device__{how} unsigned {name}(unsigned *sum, unsigned depth, unsigned x) {{")
        self.may_return = False
        self.indent += 1
        self.body(2, True, 2)
        self.add("return mix(x);")
        self.indent -= 1
        self.may_return = True
        self.add("}")
        self.helpers.append(name)

    def child(self, kernel: Kernel) -> None:
        """A kernel that is launched by others."""
        bounds = " __launch_bounds__(256)" if self.chance(0.2) else ""
        self.add(f"__global__ void{bounds} {kernel.name}({kernel.parameters()}) {{")
        self.indent += 1
        self.add("x = mix(x ^ place());")
        for i, t in enumerate(kernel.types):
            self.add(f"x += {t[2].format(p=f'p{i}')};")
        self.together(kernel)
        self.add("atomicAdd(sum + x % 1024, x);")
        if self.chance(0.8):
            self.body(self.random.randint(1, 4), True, 2)
        self.indent -= 1
        self.add("}")

    def parent(self) -> tuple[int, int]:
        """The kernel that the host launches; returns its grid and block."""
        r = self.random
        self.chain = self.chance(0.5)
        self.add("__global__ void parent(unsigned *sum, unsigned depth, unsigned *chain,")
        self.add("                       unsigned *copy) {")
        self.indent += 1
        self.add("unsigned i = blockIdx.x * blockDim.x + threadIdx.x;")
        self.add("unsigned x = mix(i);")
        self.body(r.randint(2, 6), False, 4)
        self.indent -= 1
        self.add("}")
        return r.randint(1, 6), r.choice([32, 50, 64, 100])

    def text(self) -> str:
        """The case as a namespace with a function start()."""
        r = self.random
        self.add("struct Pack { char c[3]; double d; short s; };")
        count = r.randint(1, 3)
        for k in range(count):
            types = [r.choice(TYPES) for _ in range(r.randint(0, 4))]
            self.kernels.append(Kernel(f"child{k}", types, self.chance(0.3)))
        for kernel in self.kernels:
            self.add(f"__global__ void {kernel.name}({kernel.parameters()});")
        for number in range(r.randint(0, 2)):
            self.helper(number)
        for kernel in self.kernels:
            self.child(kernel)
        blocks, threads = self.parent()
        depth = r.randint(1, 3)
        self.add("static void start(unsigned *sum, unsigned *chain, unsigned *copy) {")
        self.add(f"  parent<<<{blocks}, {threads}>>>(sum, {depth}, chain, copy);")
        self.add("}")
        return f"\nnamespace s{self.seed} {{\n" + "\n".join(self.lines) + "\n}\n"


def program(seeds: Iterable[int]) -> str:
    """A CUDA program with one case per seed."""
    seeds = list(seeds)
    cases = "".join(Case(seed).text() for seed in seeds)
    runs = "".join(f"  run({seed}, s{seed}::start);\n" for seed in seeds)
    return PRELUDE + cases + MAIN + runs + "}\n"

"""Random CUDA programs whose kernels launch kernels.

`program(seeds)` is the text of one program with one case per seed. Run without
arguments it prints a line per case: the seed and checksums of what its kernels
wrote. These do not depend on the order in which CUDA may run things:

- `sum`: every kernel adds to it, atomically;
- `chain[i]`: changed only by kernels of one thread that thread i of the first
  kernel launches into one stream, so that they run in that thread's order, with
  copies, memsets and events between them.

Cases have divergent launches, loops, switches, early returns, nested and
recursive launches, helper functions (some of which are not inlined, or call
themselves), streams of all kinds, launches that CUDA refuses, shared memory,
barriers, warp operations, templates, kernels that are chosen at run time, and
arguments of many types.
"""

from __future__ import annotations

import random
from collections.abc import Iterable

from launches_frame import END, MAIN, PRELUDE, TYPES

STREAMS = ["0", "0", "0", "cudaStreamPerThread", "cudaStreamFireAndForget", "private"]
PARENT = "unsigned *sum, unsigned depth, unsigned *chain, unsigned *copy, unsigned base"


class Kernel:
    """A kernel that others may launch: its name and parameters."""

    def __init__(self, name: str, types: list[tuple[str, str, str]], r: random.Random):
        self.name = name
        self.types = types
        self.dynamic = r.random() < 0.3
        self.template = r.random() < 0.3

    def parameters(self) -> str:
        """The parameter list."""
        own = "".join(f", {t[0]} p{i}" for i, t in enumerate(self.types))
        return f"unsigned *sum, unsigned depth, unsigned x{own}"

    def arguments(self, depth: str, x: str, others: list[str]) -> str:
        """Arguments: those of the types depend on `others`."""
        own = "".join(", " + t[1].format(x=o) for t, o in zip(self.types, others))
        return f"sum, {depth}, {x}{own}"

    def head(self) -> str:
        """What stands before its declarations."""
        return "template <unsigned number> " if self.template else ""

    def chosen(self, r: random.Random) -> str:
        """What is launched."""
        if not self.template:
            return self.name
        one = f"{self.name}<{r.randint(1, 2)}>"
        if r.random() < 0.8:
            return one
        return f"(x & 4 ? {self.name}<1> : {self.name}<2>)"


class Case:
    """The text of one seed's case."""

    def __init__(self, seed: int):
        self.random = r = random.Random(seed)
        self.seed = seed
        self.lines: list[str] = []
        self.indent = 1
        self.names = 0
        self.kernels: list[Kernel] = []
        self.helpers: list[str] = []
        # What the code that is being written may do.
        self.launches = 0
        self.may_return = True
        self.in_loop = False
        self.repeats = False
        self.chain = False
        # What the case has at all. Some are plain, so that all of their launches
        # are merged and none is lost, however few may wait.
        self.simple = r.random() < 0.5
        self.has_errors = not self.simple and r.random() < 0.2
        self.has_copies = not self.simple and r.random() < 0.5
        self.has_events = not self.simple and r.random() < 0.3
        self.has_tail = not self.simple and r.random() < 0.3
        self.has_refused = r.random() < 0.2
        self.chosen_at_run_time = not self.simple
        # Few threads whose children have many launches each.
        self.deep = r.random() < 0.3
        self.chain_stream = r.choice(["0", "0", "cudaStreamPerThread"])

    # Text.

    def add(self, line: str) -> None:
        """One line of code."""
        self.lines.append("  " * self.indent + line)

    def raw(self, line: str) -> None:
        """A line for the preprocessor."""
        self.lines.append(line)

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

    def few(self) -> str:
        """A condition that few threads of a child meet."""
        if self.deep:
            return f" && rank() % {self.random.randint(2, 9)} == 0"
        return f" && first() && rank() == {self.random.choice(['0', 'size() - 1'])}"

    def launch(self, few: bool) -> None:
        """A launch; `few`: from a few threads of the block only."""
        r = self.random
        if self.launches == 0 or not self.kernels:
            return
        self.launches -= 1
        k = r.choice(self.kernels)
        grid = r.choice(["1", f"1 + x % {r.randint(2, 5)}", f"dim3(1 + x % 3, {r.randint(1, 2)})",
                         f"dim3(1, 1 + x % 2, {r.randint(1, 2)})"])  # fmt: skip
        block = r.choice([f"1 + x % {r.randint(2, 70)}", str(r.choice([1, 7, 32, 33, 64])),
                          str(r.choice([32, 96, 128])), f"dim3(1 + x % 9, {r.randint(1, 4)})",
                          f"dim3(2, 1 + x % 3, {r.randint(1, 3)})"])  # fmt: skip
        if self.has_refused and self.chance(0.3):
            block = f"threadsUnless(x % {r.randint(2, 4)} == 0, x)"
        stream = r.choice(STREAMS)
        if self.has_tail and self.chance(0.3):
            stream = "cudaStreamTailLaunch"
        shared = r.choice(["2048", "2048 + x % 3 * 512"]) if k.dynamic else "0"
        value = f"mix(x + {r.randint(1, 1000)})"
        others = [r.choice([value, value, "depth", f"{r.randint(1, 99)}u"]) for _ in k.types]
        name = k.chosen(r)
        if not self.chosen_at_run_time:
            name = name if "?" not in name else f"{k.name}<1>"
        arguments = k.arguments("depth - 1", value, others)
        self.add(f"if (depth > 0{self.few() if few else ''}) {{")
        if stream == "private":
            stream = self.fresh()
            self.add(f"  cudaStream_t {stream};")
            self.add(f"  cudaStreamCreateWithFlags(&{stream}, cudaStreamNonBlocking);")
        self.add(f"  {name}<<<{grid}, {block}, {shared}, {stream}>>>({arguments});")
        if stream.startswith("v"):
            self.add(f"  cudaStreamDestroy({stream});")
        self.add("}")

    def chain_step(self) -> None:
        """One more launch in the thread's order."""
        r = self.random
        stream = self.chain_stream
        kinds = ["link"] * 4
        kinds += ["copy", "set"] if self.has_copies else []
        kinds += ["event"] if self.has_events and stream == "0" else []
        kind = r.choice(kinds)
        if kind == "copy":
            self.add("cudaMemcpyAsync(copy + i, chain + i, sizeof *chain,")
            self.add(f"                cudaMemcpyDeviceToDevice, {stream});")
        elif kind == "set":
            self.add(f"cudaMemsetAsync(copy + i, {r.randint(0, 255)}, sizeof *copy, {stream});")
        if kind in ["copy", "set"]:
            self.add(f"join<<<1, 1, 0, {stream}>>>(chain + i, copy + i);")
            return
        add = r.choice(["x", "i", str(r.randint(1, 99))])
        arguments = f"chain + i, {r.choice([1, 3, 5])}, {add}"
        if kind == "event":
            self.aside(arguments)
            return
        block = "1"
        if self.has_refused and self.chance(0.3):
            block = f"threadsUnless(x % {r.randint(2, 4)} == 0, x)"
        self.add(f"link<<<1, {block}, 0, {stream}>>>({arguments});")

    def aside(self, arguments: str) -> None:
        """A launch into another stream, in order by events."""
        self.add("{")
        self.indent += 1
        self.add("cudaStream_t other;")
        self.add("cudaEvent_t before, after;")
        self.add("cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);")
        for event in ["before", "after"]:
            self.add(f"cudaEventCreateWithFlags(&{event}, cudaEventDisableTiming);")
        self.add("cudaEventRecord(before, 0);")
        self.add("cudaStreamWaitEvent(other, before, 0);")
        self.add(f"link<<<1, 1, 0, other>>>({arguments});")
        self.add("cudaEventRecord(after, other);")
        self.add("cudaStreamWaitEvent(0, after, 0);")
        self.add("cudaStreamDestroy(other);")
        self.indent -= 1
        self.add("}")

    def statement(self, depth: int, few: bool) -> None:
        """A random statement."""
        r = self.random
        if self.chain and self.chance(0.25):
            self.chain_step()
            return
        kinds = ["mix", "add", "launch", "launch", "launch", "call"]
        if self.has_errors:
            kinds.append("error")
        if depth > 0:
            kinds += ["if", "if", "switch"]
            # One loop in another would launch too much.
            kinds += [] if self.repeats else ["for", "while"]
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

    def make_error(self, depth: int, few: bool) -> None:
        """Asks for the thread's errors."""
        call = self.random.choice(["cudaGetLastError", "cudaPeekAtLastError"])
        self.add(f"x += {call}() == cudaSuccess ? 1 : 2;")

    def block_of(self, depth: int, few: bool, least: int = 1) -> None:
        """Statements, further in."""
        self.indent += 1
        for _ in range(self.random.randint(least, 3)):
            self.statement(depth - 1, few)
        self.indent -= 1

    def loop_of(self, depth: int, few: bool) -> None:
        """The body of a loop."""
        self.in_loop = self.repeats = True
        self.block_of(depth, few)
        self.in_loop = self.repeats = False

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
        self.add(f"  x = mix(x + {v});")
        self.loop_of(depth, few)
        self.add("}")

    def make_while(self, depth: int, few: bool) -> None:
        """A loop that ends by a count."""
        v = self.fresh()
        self.add(f"unsigned {v} = {self.random.randint(1, 3)};")
        self.add(f"while ({v}-- > 0) {{")
        self.loop_of(depth, few)
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
        static = self.chance(0.5)
        if kernel.dynamic:
            self.add("extern __shared__ unsigned values[];")
        elif static:
            self.add("__shared__ unsigned values[512];")
        else:
            return
        self.add("values[rank()] = x;")
        if kernel.dynamic and static:
            self.add("__shared__ unsigned short halves[300];")
            self.add("halves[rank()] = x;")
        self.add("__syncthreads();")
        if kernel.dynamic and static:
            self.add(f"x += halves[(rank() + {r.randint(1, 40)}) % size()];")
        self.add(f"x += values[(rank() + {r.randint(1, 40)}) % size()];")
        if self.chance(0.5):
            self.add("unsigned lanes = size() - rank() / 32 * 32;")
            self.add("unsigned alive = lanes < 32 ? (1u << lanes) - 1 : 0xffffffff;")
            self.add("x ^= __popc(__ballot_sync(alive, x & 1));")
            self.add("x += __shfl_sync(alive, x, 0);")
            if self.chance(0.5):
                self.add("x += __popc(__match_any_sync(alive, x % 3));")
                self.add("x += __any_sync(alive, x % 40 == 0);")
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
        self.raw("#if PART == 1")
        self.add(f"__device__ unsigned {name}(unsigned *sum, unsigned depth, unsigned x);")
        self.raw("#else")
        self.add(f"__device__{how} unsigned {name}(unsigned *sum, unsigned depth, unsigned x) {{")
        self.may_return = False
        self.indent += 1
        if self.chance(0.2):
            self.add("if (x % 3 == 0)")
            self.add(f"  return x + {name}(sum, depth, x / 3 * 4 + 1);")
        self.body(2, True, 2)
        self.add("return mix(x);")
        self.indent -= 1
        self.may_return = True
        self.add("}")
        self.raw("#endif")
        self.helpers.append(name)

    def child(self, kernel: Kernel) -> None:
        """A kernel that is launched by others."""
        bounds = " __launch_bounds__(256)" if self.chance(0.2) else ""
        parameters = kernel.parameters()
        self.add(f"{kernel.head()}__global__ void{bounds} {kernel.name}({parameters}) {{")
        self.indent += 1
        self.add("x = mix(x ^ place());")
        if kernel.template:
            self.add("x += number;")
        for i, t in enumerate(kernel.types):
            self.add(f"x += {t[2].format(p=f'p{i}')};")
        self.together(kernel)
        self.add("atomicAdd(sum + x % 1024, x);")
        if self.chance(0.8):
            self.body(self.random.randint(1, 4), True, 2)
        self.indent -= 1
        self.add("}")
        if kernel.template:
            for number in [1, 2]:
                self.add(f"template __global__ void {kernel.name}<{number}>({parameters});")

    def parent(self) -> tuple[str, str]:
        """The kernel that the host launches; returns its grid and block."""
        r = self.random
        self.chain = self.chance(0.5)
        self.add(f"__global__ void parent({PARENT}) {{")
        self.indent += 1
        self.add("unsigned i = base + blockRank() * size() + rank();")
        self.add("unsigned x = mix(i);")
        if self.chance(0.3):
            self.publish()
        if self.chance(0.2):
            self.rounds()
        self.body(r.randint(2, 6), False, 4)
        self.indent -= 1
        self.add("}")
        if self.deep:
            return "1", r.choice(["5", "16", "dim3(4, 3)"])
        return r.choice(
            [
                (str(r.randint(1, 5)), r.choice(["32", "50", "64", "100"])),
                ("dim3(2, 2)", "dim3(10, 3, 2)"),
                ("dim3(1, 2, 2)", "dim3(7, 5)"),
            ]
        )

    def publish(self) -> None:
        """Children read what another thread of the block has written."""
        r = self.random
        self.add("copy[i] = x;")
        self.add("__syncthreads();")
        neighbour = f"copy + i - rank() + (rank() + {r.randint(1, 20)}) % size()"
        self.add(f"if ({self.condition()})")
        self.add(f"  peek<<<1, 1 + x % 40>>>(sum, {neighbour}, x);")
        if self.chain:
            self.has_copies = False  # `copy` is in use

    def rounds(self) -> None:
        """A loop that all threads of the block go through together."""
        v = self.fresh()
        self.launches = 1
        self.add(f"for (unsigned {v} = 0; {v} < {self.random.randint(2, 3)}; ++{v}) {{")
        self.repeats = True
        self.block_of(2, False)
        self.repeats = False
        self.add("  __syncthreads();")
        self.add("}")

    def start(self, blocks: str, threads: str) -> None:
        """What the host does."""
        r = self.random
        depth = 2 if self.deep else r.randint(1, 3)
        self.add("static void start(unsigned *sum, unsigned *chain, unsigned *copy) {")
        if self.chance(0.3):
            self.add("  cudaStream_t streams[2];")
            for number in range(2):
                self.add(f"  CHECK(cudaStreamCreate(&streams[{number}]));")
                self.add(f"  parent<<<{blocks}, {threads}, 0, streams[{number}]>>>"
                         f"(sum, {depth}, chain, copy, {number} * 512);")  # fmt: skip
        else:
            self.add(f"  parent<<<{blocks}, {threads}>>>(sum, {depth}, chain, copy, 0);")
        self.add("}")

    def text(self) -> str:
        """The case as a namespace with a function start()."""
        r = self.random
        self.add("struct Pack { char c[3]; double d; short s; };")
        for k in range(r.randint(1, 3)):
            types = [r.choice(TYPES) for _ in range(r.randint(0, 4))]
            self.kernels.append(Kernel(f"child{k}", types, r))
        for kernel in self.kernels:
            self.add(f"{kernel.head()}__global__ void {kernel.name}({kernel.parameters()});")
        for number in range(r.randint(0, 2)):
            self.helper(number)
        self.raw("#if PART != 1")
        for kernel in self.kernels:
            self.child(kernel)
        self.raw("#endif")
        self.raw("#if PART != 2")
        self.start(*self.parent())
        self.raw("#endif")
        return f"\nnamespace s{self.seed} {{\n" + "\n".join(self.lines) + "\n}\n"


def loses_nothing(seed: int) -> bool:
    """Whether a case, merged, is complete with any limit of launches that wait."""
    return Case(seed).simple


def program(seeds: Iterable[int]) -> str:
    """A CUDA program with one case per seed."""
    seeds = list(seeds)
    cases = "".join(Case(seed).text() for seed in seeds)
    runs = "".join(
        f"  {'' if loses_nothing(seed) else 'if (!limited) '}run({seed}, s{seed}::start);\n"
        for seed in seeds
    )
    return PRELUDE + cases + MAIN + runs + END

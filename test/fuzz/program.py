"""What a generated program is made of, and how it becomes C.

A Program has Buffers (all of its memory), Kernels (functions with loops) and
Calls of the kernels with given sizes. Loop bounds, guards and subscripts are
Index expressions, which Python evaluates as C does: extents.py walks the
iterations of every call and gives each array the extents that its accesses
need. Values are Expr trees that know a bound of what they compute, so that no
program overflows, divides by zero or makes an infinity.

render() writes the whole program. Its output is the contents of all buffers
after each call, bit by bit, and nothing that depends on addresses or time.
"""

from __future__ import annotations

from dataclasses import dataclass, field

# C type, bytes, values that an element of role "value" may have.
TYPES = {
    "f64": ("double", 8),
    "f32": ("float", 4),
    "i8": ("int8_t", 1),
    "u8": ("uint8_t", 1),
    "i16": ("int16_t", 2),
    "u16": ("uint16_t", 2),
    "i32": ("int32_t", 4),
    "u32": ("uint32_t", 4),
    "i64": ("int64_t", 8),
    "u64": ("uint64_t", 8),
    "bool": ("_Bool", 1),
}
FLOATS = ("f64", "f32")
# Bound of the absolute value of what is stored; wrapping types have none.
FLOAT_LIMIT = 8.0
# Sums of so many eighths, or products of 1 and -1, are exact in any order.
EXACT = 0.125
INT_LIMITS = {"i8": 100, "i16": 1000, "i32": 1000, "i64": 1000}


@dataclass(frozen=True)
class Index:
    """sum of coefficient * name, + constant; then, if asked for, modulo or
    divided by a number, times a variable, or looked up in a table."""

    terms: tuple[tuple[int, str], ...] = ()
    constant: int = 0
    wrap: str = ""  # "", "%", "/", "*" or "table"
    by: int | str = 0

    def names(self) -> set[str]:
        names = {name for _, name in self.terms}
        return names | {str(self.by)} if self.wrap == "*" else names

    def plus(self, constant: int) -> Index:
        if self.wrap:
            return Index(((1, f"({self.c()})"),), constant)
        return Index(self.terms, self.constant + constant)

    def sum(self) -> str:
        text = ""
        for coefficient, name in self.terms:
            size = abs(coefficient)
            factor = name if size == 1 else f"{size} * {name}"
            sign = "-" if coefficient < 0 else "+"
            text += f" {sign} {factor}" if text else factor if sign == "+" else f"-{factor}"
        if self.constant or not text:
            sign = "-" if self.constant < 0 else "+"
            size = abs(self.constant)
            text = f"{text} {sign} {size}" if text else str(self.constant)
        return text

    def c(self) -> str:
        if self.wrap == "table":
            return f"{self.by}[{self.sum()}]"
        return f"({self.sum()}) {self.wrap} {self.by}" if self.wrap else self.sum()

    def py(self) -> str:
        if self.wrap == "table":
            return f"look({self.by}, {self.sum()})"
        if self.wrap == "*":
            return f"({self.sum()}) * {self.by}"
        if self.wrap:
            return f"{'rem' if self.wrap == '%' else 'quo'}({self.sum()}, {self.by})"
        return self.sum()


@dataclass(eq=False)
class Buffer:
    """Memory of the program: an array of numbers, or of structs with members.
    role "value": what is stored is bounded; "sum": things are added to it;
    "exact": small multiples of EXACT are added to it, in any order."""

    name: str
    members: dict[str, str]  # name to type; of a number, "" to the type
    role: str
    is_global: bool = False  # an array of fixed shape that kernels name
    extents: list[int] = field(default_factory=list)
    size: int = 1  # elements

    def c_type(self) -> str:
        return TYPES[self.members[""]][0] if "" in self.members else f"struct {self.name}_type"


@dataclass(eq=False)
class View:
    """How a kernel sees a buffer. shape: "fixed" (T a[][8]), "vla" (T
    a[][m + 2]), "flat" (T *a, subscripts multiplied out), "global", or
    "local" (an array of the function's own)."""

    name: str
    buffer: Buffer
    dims: int
    shape: str
    restrict: bool = False
    parameter: str = ""  # the size that "vla" and "flat" rows depend on
    short_rows: int = 0  # flat: the row is so much shorter than the subscripts
    offset: int = 0  # elements from the buffer's begin
    # Found by extents.py:
    shifts: list[int] = field(default_factory=list)
    rows: list[int] = field(default_factory=list)  # constant, or added to the parameter

    def row(self, dim: int) -> str:
        """The extent of an inner dimension, as C."""
        extra = self.rows[dim]
        if self.parameter:
            return Index(((1, self.parameter),), extra).c()
        return str(extra)


@dataclass(eq=False)
class Access:
    view: View
    subs: list[Index]
    member: str = ""

    def type(self) -> str:
        return self.view.buffer.members[self.member]

    def c(self) -> str:
        return self.element() + (f".{self.member}" if self.member else "")

    def element(self) -> str:
        view = self.view
        subs = [s.plus(view.shifts[d]) for d, s in enumerate(self.subs)]
        if view.shape != "flat" or view.dims == 1:
            return view.name + "".join(f"[{s.c()}]" for s in subs)
        text = subs[0].c()
        for dim in range(1, view.dims):
            text = f"({text}) * ({view.row(dim)}) + {subs[dim].c()}"
        return f"{view.name}[{text}]"


@dataclass(eq=False)
class Expr:
    """kind: f64, f32, int, i64, u32 or u64 (what C computes in). bound is of
    the absolute value, and means nothing for u32 and u64. text has one {} per
    operand; a leaf has an access or plain text."""

    kind: str
    bound: float
    text: str
    args: list[Expr] = field(default_factory=list)
    access: Access | None = None
    names: tuple[str, ...] = ()  # loop variables and sizes in text

    def c(self) -> str:
        if self.access:
            return self.text.format(self.access.c())
        return self.text.format(*(a.c() for a in self.args)) if self.args else self.text

    def walk(self):
        yield self
        for arg in self.args:
            yield from arg.walk()


@dataclass(eq=False)
class Scalar:
    name: str
    type: str
    role: str
    initial: str = "0"


# Statements. Every one has children() for the walks, and a place in a list
# that shrink.py may delete it from.


@dataclass(eq=False)
class Store:
    """target OP= value, into memory or a scalar. op: =, +=, -=, *=, |=, &=,
    ^=, max, min, max?, min? (written with ?:), fmax, fmin (of the absolute
    value: which of two zeros fmax chooses is not defined), or mix (target =
    target / 2 + value). Of an exact target, the value is an integer."""

    op: str
    value: Expr
    access: Access | None = None
    scalar: Scalar | None = None
    any_order: bool = False  # the compiler may reassociate; exact targets only

    def target(self) -> str:
        return self.access.c() if self.access else self.scalar.name

    def type(self) -> str:
        return self.access.type() if self.access else self.scalar.type

    def role(self) -> str:
        return self.access.view.buffer.role if self.access else self.scalar.role


@dataclass(eq=False)
class Loop:
    var: str
    low: Index
    high: Index  # excluded
    step: int
    body: list
    down: bool = False
    cap: Index | None = None  # another upper bound: the smaller one counts
    inclusive: bool = False  # written with <=


@dataclass(eq=False)
class Guard:
    """An affine condition, (left OP right) joined by `join`."""

    parts: list[tuple[Index, str, Index]]
    join: str
    body: list
    other: list


@dataclass(eq=False)
class DataGuard:
    condition: Expr
    body: list
    other: list


@dataclass(eq=False)
class Leave:
    """break or continue, on data."""

    condition: Expr
    word: str


@dataclass(eq=False)
class Kernel:
    name: str
    index: str  # type of the loop variables
    views: list[View]
    parameters: list[str]  # sizes
    indirect: list[str]  # of those, passed through a pointer
    scalars: list[Scalar]
    body: list
    result: Scalar | None
    is_static: bool
    used: list[str] = field(default_factory=list)  # parameters, by extents.py


@dataclass(eq=False)
class Call:
    kernel: Kernel
    sizes: dict[str, int]


@dataclass(eq=False)
class Program:
    seed: int
    buffers: list[Buffer]
    tables: dict[str, list[int]]
    kernels: list[Kernel]
    calls: list[Call]

    def memory(self) -> list[Buffer]:
        """The buffers that a kernel uses."""
        used = {id(v.buffer) for k in self.kernels for v in k.views}
        return [b for b in self.buffers if id(b) in used]


def children(node) -> list[list]:
    """The lists of statements under a statement."""
    lists = [getattr(node, "body", None), getattr(node, "other", None)]
    return [x for x in lists if x]


def statements(body: list):
    for node in body:
        yield node
        for inner in children(node):
            yield from statements(inner)


def expressions(node) -> list[Expr]:
    roots = [getattr(node, "value", None), getattr(node, "condition", None)]
    return [e for root in roots if root for e in root.walk()]


def accesses(kernel: Kernel):
    for node in statements(kernel.body):
        if isinstance(node, Store) and node.access:
            yield node.access
        for e in expressions(node):
            if e.access:
                yield e.access


# ---------------------------------------------------------------------------
# C


def scaled(e: Expr, limit: float) -> str:
    """e, made small enough to have at most the absolute value `limit`."""
    text = e.c()
    if e.kind in ("u32", "u64"):
        return text
    if e.kind in FLOATS:
        power = 0
        while e.bound * 2.0**-power > limit:
            power += 1
        suffix = "f" if e.kind == "f32" else ""
        return f"{text} * 0x1p-{power}{suffix}" if power else text
    return f"{text} % {int(limit) + 1}" if e.bound > limit else text


def exact_text(s: Store) -> str:
    c_type, suffix = TYPES[s.type()][0], "f" if s.type() == "f32" else ""
    if s.role() == "sign":
        value = f"({s.value.c()}) & 1 ? 1.0{suffix} : -1.0{suffix}"
    else:
        value = f"({s.value.c()}) % 64 * {EXACT}{suffix}"
    target = s.target()
    update = f"if (v {'>' if s.op == 'max' else '<'} {target}) {target} = v;"
    if s.op not in ("max", "min"):
        update = f"{target} {s.op} v;"
    if s.any_order:
        update = f'{{ _Pragma("clang fp reassociate(on)") {update} }}'
    return f"{{ {c_type} v = {value}; {update} }}"


def store_text(s: Store) -> str:
    if s.role() in ("exact", "sign"):
        return exact_text(s)
    target, type_ = s.target(), s.type()
    if type_ == "bool":
        value = f"{s.value.c()} > 0" if s.value.kind in FLOATS else f"({s.value.c()}) % 3 != 0"
        return f"{target} {s.op if s.op in ('|=', '&=', '^=') else '='} {value};"
    wraps = type_ in ("u8", "u16", "u32", "u64")
    limit = FLOAT_LIMIT if type_ in FLOATS else INT_LIMITS.get(type_, 1e9)
    if s.op == "*=":
        limit = 1.0 if type_ in FLOATS else limit
    if s.op == "mix":
        half = "* 0.5" + ("f" if type_ == "f32" else "") if type_ in FLOATS else "/ 2"
        return f"{target} = {target} {half} + ({scaled(s.value, limit / 2)});"
    value = s.value.c() if wraps else scaled(s.value, limit)
    if s.op in ("max", "min"):
        c_type, sign = TYPES[type_][0], ">" if s.op == "max" else "<"
        return f"{{ {c_type} v = {value}; if (v {sign} {target}) {target} = v; }}"
    if s.op in ("max?", "min?"):
        c_type, sign = TYPES[type_][0], ">" if s.op == "max?" else "<"
        return f"{{ {c_type} v = {value}; {target} = v {sign} {target} ? v : {target}; }}"
    if s.op in ("fmax", "fmin"):
        suffix = "f" if type_ == "f32" else ""
        return f"{target} = {s.op}{suffix}({target}, fabs{suffix}({value}));"
    return f"{target} {s.op} {value};"


class Writer:
    def __init__(self):
        self.lines: list[str] = []
        self.depth = 0

    def line(self, text: str = ""):
        self.lines.append("  " * self.depth + text if text else "")

    def block(self, head: str, body: list, index: str, tail: str = "}"):
        self.line(head)
        self.depth += 1
        for node in body:
            self.node(node, index)
        self.depth -= 1
        if tail:
            self.line(tail)

    def node(self, node, index: str):
        signed = index in ("int", "long")
        number = (lambda i: i.c()) if signed else (lambda i: f"(int)({i.c()})")
        if isinstance(node, Store):
            self.line(store_text(node))
        elif isinstance(node, Loop):
            v, high = node.var, node.high.c()
            if node.cap:
                a, b = number(node.high), number(node.cap)
                high = f"({a} < {b} ? {a} : {b})"
            step = f"{v}++" if node.step == 1 else f"{v} += {node.step}"
            if node.down:
                step = step.replace("+", "-")
                head = f"for ({index} {v} = {high} - 1; {v} >= {node.low.c()}; {step}) {{"
            elif node.inclusive:
                head = f"for ({index} {v} = {node.low.c()}; {v} <= {high} - 1; {step}) {{"
            else:
                head = f"for ({index} {v} = {node.low.c()}; {v} < {high}; {step}) {{"
            self.block(head, node.body, index)
        elif isinstance(node, (Guard, DataGuard)):
            if isinstance(node, Guard):
                parts = [f"{number(a)} {op} {number(b)}" for a, op, b in node.parts]
                condition = f" {node.join} ".join(parts)
            else:
                condition = node.condition.c()
            if node.other:
                self.block(f"if ({condition}) {{", node.body, index, "")
                self.block("} else {", node.other, index)
            else:
                self.block(f"if ({condition}) {{", node.body, index)
        else:
            self.line(f"if ({node.condition.c()}) {node.word};")


PRELUDE = """\
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define PLAIN __attribute__((noinline, optnone))

/* Sizes that the compiler does not know. */
PLAIN static int size(int n) { return n; }

/* "name: hash", and with the argument "dump" all elements. */
static int dump;
PLAIN static void show(const char *name, const void *data, long count, long width, long stride) {
  const unsigned char *bytes = data;
  uint64_t hash = 0xcbf29ce484222325u;
  for (long i = 0; i < count; i++)
    for (long k = 0; k < width; k++)
      hash = (hash ^ bytes[i * stride + k]) * 0x100000001b3u;
  printf("%s: %016llx\\n", name, (unsigned long long)hash);
  for (long i = 0; dump && i < count; i++) {
    printf("  %ld: 0x", i);
    for (long k = width - 1; k >= 0; k--)
      printf("%02x", bytes[i * stride + k]);
    printf("\\n");
  }
}

static uint64_t state;
PLAIN static int next(int limit) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (int)((state >> 33) % (uint64_t)(2 * limit + 1)) - limit;
}
"""


def fill_text(b: Buffer, member: str) -> str:
    type_ = b.members[member]
    pointer = f"({b.c_type()} *){b.name}" if b.is_global else b.name
    if type_ in FLOATS:
        value = "next(4096) / 512.0" if type_ == "f64" else "next(4096) / 512.0f"
        if b.role == "exact":
            value = f"next(64) * {EXACT}"
    elif type_ == "bool":
        value = "next(3) > 0"
    else:
        limit = INT_LIMITS.get(type_, 200 if type_ == "u8" else 30000)
        value = f"({TYPES[type_][0]})next({limit})"
    dot = f".{member}" if member else ""
    return f"for (long i = 0; i < {b.size}; i++) ({pointer})[i]{dot} = {value};"


def render_kernel(out: Writer, kernel: Kernel):
    declared = []
    for name in kernel.used:
        declared.append(f"const int *{name}_p" if name in kernel.indirect else f"int {name}")
    bind = [name for name in kernel.used if name in kernel.indirect]
    inside = []
    for v in kernel.views:
        c_type = v.buffer.c_type()
        mark = "restrict " if v.restrict else ""
        if v.shape == "local":
            inside.append(v)
        elif v.shape == "flat" or (v.shape in ("fixed", "vla") and v.dims == 1):
            declared.append(f"{c_type} *{mark}{v.name}")
        elif v.shape != "global":
            rows = "".join(f"[{v.row(d)}]" for d in range(1, v.dims))
            star = f"(*{mark}{v.name})"
            if bind:  # the sizes are not parameters: an array type needs them
                declared.append(f"void *{mark}{v.name}_p")
                inside.append((c_type, star, rows, v))
            else:
                declared.append(f"{c_type} {star}{rows}")
    result = TYPES[kernel.result.type][0] if kernel.result else "void"
    storage = "static " if kernel.is_static else ""
    out.line(f"__attribute__((noinline)) {storage}{result}")
    out.line(f"{kernel.name}({', '.join(declared) or 'void'}) {{")
    out.depth += 1
    for name in bind:
        out.line(f"int {name} = *{name}_p;")
    for item in inside:
        if isinstance(item, View):
            sizes = "".join(f"[{e}]" for e in item.buffer.extents)
            out.line(f"{item.buffer.c_type()} {item.name}{sizes};")
            text = f"{item.name}"
            out.line(f"for (int z = 0; z < {item.buffer.extents[0]}; z++)")
            if item.dims == 1:
                out.line(f"  {text}[z] = 0;")
            else:
                out.line(f"  for (int y = 0; y < {item.buffer.extents[1]}; y++)")
                out.line(f"    {text}[z][y] = 0;")
        else:
            c_type, star, rows, v = item
            out.line(f"{c_type} {star}{rows} = {v.name}_p;")
    for scalar in kernel.scalars:
        out.line(f"{TYPES[scalar.type][0]} {scalar.name} = {scalar.initial};")
    for node in kernel.body:
        out.node(node, kernel.index)
    if kernel.result:
        out.line(f"return {kernel.result.name};")
    out.depth -= 1
    out.line("}")
    out.line()


def render(program: Program) -> str:
    out = Writer()
    out.line(f"/* Made by test/fuzz/generate.py --seed {program.seed}. */")
    out.lines += PRELUDE.split("\n")
    kernels = Writer()
    for kernel in program.kernels:
        render_kernel(kernels, kernel)
    for name, values in program.tables.items():
        if not any(f"{name}[" in line for line in kernels.lines):
            continue
        out.line(f"static int {name}[{len(values)}] = {{{', '.join(map(str, values))}}};")
    memory = program.memory()
    for b in memory:
        if "" not in b.members:
            inner = " ".join(f"{TYPES[t][0]} {name};" for name, t in b.members.items())
            out.line(f"{b.c_type()} {{ {inner} }};")
        if b.is_global:
            sizes = "".join(f"[{e}]" for e in b.extents)
            out.line(f"static {b.c_type()} {b.name}{sizes};")
    out.line()
    out.lines += kernels.lines

    out.line("PLAIN int main(int argc, char **argv) {")
    out.depth += 1
    out.line("dump = argc > 1;")
    out.line("(void)argv;")
    for b in memory:
        if not b.is_global:
            c_type = b.c_type()
            out.line(f"{c_type} *{b.name} = malloc({b.size} * sizeof({c_type}));")
    for position, b in enumerate(memory):
        out.line(f"state = {program.seed * 64 + position}u;")
        for member in b.members:
            out.line(fill_text(b, member))
    for number, call in enumerate(program.calls):
        arguments = []
        for name in call.kernel.used:
            if name in call.kernel.indirect:
                arguments.append(f"(int[]){{{call.sizes[name]}}}")
            else:
                arguments.append(f"size({call.sizes[name]})")
        for v in call.kernel.views:
            if v.shape in ("global", "local"):
                continue
            start = f"{v.buffer.name} + {v.offset}" if v.offset else v.buffer.name
            arguments.append(f"(void *)({start})")
        text = f"{call.kernel.name}({', '.join(arguments)})"
        if call.kernel.result:
            c_type = TYPES[call.kernel.result.type][0]
            out.line(f"{c_type} r{number} = {text};")
            out.line(f'show("call {number} result", &r{number}, 1, sizeof r{number}, 0);')
        else:
            out.line(f"{text};")
        for b in memory:
            for member, type_ in b.members.items():
                name, place = b.name, b.name
                if member:
                    name, place = f"{name}.{member}", f"&(({b.c_type()} *){b.name})->{member}"
                stride = f"sizeof({b.c_type()})"
                width = TYPES[type_][1]
                out.line(f'show("call {number} {name}", {place}, {b.size}, {width}, {stride});')
    out.line("return 0;")
    out.depth -= 1
    out.line("}")
    return "\n".join(out.lines) + "\n"

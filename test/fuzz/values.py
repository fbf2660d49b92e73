"""Random values: Expr trees of bounded size, for every kind C computes in.

Mathematical functions are those whose result is exact on every device (sqrt,
fabs, floor, ...), and, with a quantised result, exp, log, sin and cos in
double: a last bit that differs does not show.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from program import FLOATS, TYPES, Expr, Scalar, View, scaled

KIND_OF_TYPE = {
    "f64": "f64",
    "f32": "f32",
    "i8": "int",
    "i16": "int",
    "i32": "int",
    "u8": "u32",
    "u16": "u32",
    "u32": "u32",
    "bool": "int",
    "i64": "i64",
    "u64": "u64",
}
C_OF_KIND = {
    "f64": "double",
    "f32": "float",
    "int": "int",
    "u32": "uint32_t",
    "i64": "int64_t",
    "u64": "uint64_t",
}
# Sums stay below 2^18 (extents.MOST_INSTANCES additions of at most 8).
SUM_SCALE = "0x1p-15"


def read_expr(type_: str, role: str, access=None, name: str = "") -> Expr:
    """A read, in the kind that C computes in after promotion."""
    text = name or "{}"
    if type_ in FLOATS:
        if role in ("sum", "exact"):
            suffix = "f" if type_ == "f32" else ""
            text = f"({text} * {SUM_SCALE}{suffix})"
        return Expr(type_, 8.0, text, access=access)
    if type_ in ("u32", "u64"):
        return Expr(type_, 0, text, access=access)
    if type_ in ("i32", "i64"):
        if role == "sum":
            text = f"({text} % 1009)"
        return Expr(KIND_OF_TYPE[type_], 1024, text, access=access)
    bound = {"bool": 1, "i8": 128, "u8": 255, "i16": 32768, "u16": 65535}[type_]
    return Expr("int", bound, text, access=access)


def kinds_of(view: View) -> set[str]:
    """The kinds that reads of a view have."""
    return {KIND_OF_TYPE[t] for t in view.buffer.members.values()}


def convert(e: Expr, kind: str) -> Expr:
    if e.kind == kind:
        return e
    c_type = C_OF_KIND[kind]
    if e.kind in FLOATS and kind in FLOATS:
        return Expr(kind, e.bound, f"({c_type})({{}})", [e])
    if e.kind in FLOATS:
        if kind in ("u32", "u64"):
            return Expr(kind, 0, f"({c_type})(int)({{}} * 8)", [e])
        return Expr(kind, e.bound * 8, f"({c_type})({{}} * 8)", [e])
    if kind in FLOATS:
        if e.kind in ("u32", "u64"):
            suffix = "f" if kind == "f32" else ""
            power = 28 if e.kind == "u32" else 60
            return Expr(kind, 16.0, f"(({c_type}){{}} * 0x1p-{power}{suffix})", [e])
        return Expr(kind, e.bound, f"({c_type})({{}})", [e])
    if kind in ("u32", "u64"):
        return Expr(kind, 0, f"({c_type})({{}})", [e])
    if e.kind in ("u32", "u64"):
        return Expr(kind, 1009, f"({c_type})({{}} % 1009)", [e])
    if kind == "int" and e.bound > 1e9:
        return Expr(kind, 1009, f"(int)({{}} % 1009)", [e])
    return Expr(kind, e.bound, f"({c_type})({{}})", [e])


class Values:
    """Grows expressions. read() gives a random read of a given view, of a given
    kind where the view has one."""

    def __init__(self, rng: random.Random, read: Callable[[View, str], Expr]):
        self.rng = rng
        self.read = read
        self.views: list[View] = []
        self.scalars: list[Scalar] = []
        self.variables: list[str] = []
        self.sizes: list[str] = []
        self.signed = True

    # Leaves

    def variable(self) -> Expr:
        names = list(self.variables)
        if self.sizes and self.rng.random() < 0.2:
            names = [self.rng.choice(self.sizes)]
        name = self.rng.choice(names)
        return Expr("int", 2000, f"(int){name}", names=(name,))

    def constant(self, kind: str) -> Expr:
        rng = self.rng
        if kind in FLOATS:
            value = rng.choice([0.5, 1.0, 2.0, 0.1, 0.25, 3.0, 1.5, 0.7, -1.0, -0.3])
            text = f"{value}{'f' if kind == 'f32' else ''}"
            return Expr(kind, abs(value), text if value > 0 else f"({text})")
        value = rng.choice([1, 2, 3, 5, 7, 10, 31, 64, 100, 255])
        suffix = {"u32": "u", "u64": "ull", "i64": "ll"}.get(kind, "")
        return Expr(kind, value, f"{value}{suffix}")

    def leaf(self, kind: str) -> Expr:
        draw = self.rng.random()
        if self.scalars and draw < 0.12:
            s = self.rng.choice(self.scalars)
            return convert(read_expr(s.type, s.role, name=s.name), kind)
        if self.variables and draw < 0.25:
            return convert(self.variable(), kind)
        if draw < 0.37 or not self.views:
            return self.constant(kind)
        alike = [v for v in self.views if kind in kinds_of(v)]
        pool = alike if alike and self.rng.random() < 0.8 else self.views
        return convert(self.read(self.rng.choice(pool), kind), kind)

    # Trees

    def grow(self, kind: str, depth: int) -> Expr:
        if depth <= 0 or self.rng.random() < 0.15:
            return self.leaf(kind)
        if self.rng.random() < 0.08:
            a, b = self.grow(kind, depth - 1), self.grow(kind, depth - 1)
            bound = max(a.bound, b.bound)
            return Expr(kind, bound, "({} ? {} : {})", [self.condition(depth - 1), a, b])
        if self.rng.random() < 0.08:
            other = self.rng.choice(list(C_OF_KIND))
            return convert(self.grow(other, depth - 1), kind)
        if kind in FLOATS:
            return self.grow_float(kind, depth - 1)
        if kind in ("u32", "u64"):
            return self.grow_unsigned(kind, depth - 1)
        return self.grow_signed(kind, depth - 1)

    def small(self, e: Expr, limit: float) -> Expr:
        if e.bound <= limit:
            return e
        return Expr(e.kind, limit, f"({scaled(Expr(e.kind, e.bound, '{}'), limit)})", [e])

    def grow_float(self, kind: str, depth: int) -> Expr:
        rng = self.rng
        suffix = "f" if kind == "f32" else ""
        a = self.small(self.grow(kind, depth), 1e3)
        draw = rng.random()
        if draw < 0.12:
            call, bound = rng.choice(
                [
                    ("sqrt{}(fabs{}({{}}))", 32.0),
                    ("fabs{}({{}})", a.bound),
                    ("floor{}({{}})", a.bound + 1),
                    ("ceil{}({{}})", a.bound + 1),
                    ("trunc{}({{}})", a.bound),
                    ("fmax{}({{}}, 0.125{})", a.bound + 1),
                    ("fmin{}({{}}, 3.5{})", a.bound + 4),
                ]
            )
            return Expr(kind, bound, call.replace("{}", suffix).replace("{" + suffix + "}", "{}"), [a])
        if draw < 0.15 and kind == "f64":
            call = rng.choice(["exp({} * 0.001)", "log({} * {} + 1.0)", "sin({})", "cos({})"])
            args = [a] * call.count("{}")
            return Expr(kind, 24.0, f"(floor({call} * 1024.0 + 0.3) * 0x1p-10)", args)
        if draw < 0.2:
            return Expr(kind, a.bound, "(-{})", [a])
        b = self.small(self.grow(kind, depth), 1e3)
        if draw < 0.25:
            return Expr(kind, a.bound, f"({{}} / ({{}} * {{}} + 1.0{suffix}))", [a, b, b])
        if draw < 0.3:
            return Expr(kind, a.bound, f"({{}} / 3.0{suffix})", [a])
        if draw < 0.55:
            return Expr(kind, a.bound + b.bound, "({} + {})", [a, b])
        if draw < 0.7:
            return Expr(kind, a.bound + b.bound, "({} - {})", [a, b])
        return Expr(kind, a.bound * b.bound, "({} * {})", [a, b])

    def grow_unsigned(self, kind: str, depth: int) -> Expr:
        rng = self.rng
        a = self.grow(kind, depth)
        draw = rng.random()
        if draw < 0.1:
            return Expr(kind, 0, f"(~{{}})", [a])
        if draw < 0.25:
            return Expr(kind, 0, f"({{}} {rng.choice(['<<', '>>'])} {rng.randint(1, 7)})", [a])
        if draw < 0.35:
            return Expr(kind, 0, f"({{}} {rng.choice(['/', '%'])} {rng.choice([3, 7, 10, 16])}u)", [a])
        b = self.grow(kind, depth)
        return Expr(kind, 0, f"({{}} {rng.choice('++-**&|^')} {{}})", [a, b])

    def grow_signed(self, kind: str, depth: int) -> Expr:
        rng = self.rng
        most = 1e9 if kind == "int" else 1e18
        a = self.grow(kind, depth)
        draw = rng.random()
        if draw < 0.06:
            return Expr(kind, a.bound + 1, rng.choice(["(-{})", "(~{})"]), [a])
        if draw < 0.1:
            return Expr(kind, a.bound, f"({{}} >> {rng.randint(1, 5)})", [a])
        if draw < 0.2:
            by = rng.choice([2, 3, 7, 10, 16])
            if rng.random() < 0.5:
                return Expr(kind, a.bound, f"({{}} / {by})", [a])
            return Expr(kind, by, f"({{}} % {by})", [a])
        b = self.grow(kind, depth)
        if draw < 0.26:
            name = rng.choice(["<", ">"])
            return Expr(kind, max(a.bound, b.bound), f"({{}} {name} {{}} ? {{}} : {{}})", [a, b, a, b])
        if draw < 0.32:
            a, b = self.small(a, 30000), self.small(b, 30000)
            return Expr(kind, 65536, f"({{}} {rng.choice('&|^')} {{}})", [a, b])
        if draw < 0.6 and a.bound * b.bound < most:
            return Expr(kind, a.bound * b.bound, "({} * {})", [a, b])
        a, b = self.small(a, 1e8), self.small(b, 1e8)
        return Expr(kind, a.bound + b.bound, f"({{}} {rng.choice('++-')} {{}})", [a, b])

    def condition(self, depth: int) -> Expr:
        rng = self.rng
        draw = rng.random()
        if draw < 0.15 and depth > 0:
            a, b = self.condition(depth - 1), self.condition(depth - 1)
            return Expr("int", 1, f"({{}} {rng.choice(['&&', '||'])} {{}})", [a, b])
        booleans = [v for v in self.views if v.buffer.members.get("") == "bool"]
        if booleans and draw < 0.35:
            read = self.read(rng.choice(booleans), "int")
            return Expr("int", 1, rng.choice(["{}", "!{}"]), [read])
        kinds = sorted({"int"}.union(*(kinds_of(v) for v in self.views)))
        kind = rng.choice(kinds)
        a = self.grow(kind, depth - 1)
        if kind not in FLOATS and rng.random() < 0.4:
            unsigned = "u" if kind in ("u32", "u64") else ""
            return Expr("int", 1, f"({{}} % {rng.choice([2, 3, 5])}{unsigned} == 0)", [a])
        b = self.grow(kind, depth - 1)
        operators = ["<", "<=", ">", ">=", "!="] if kind in FLOATS else ["<", "<=", ">", ">=", "==", "!="]
        return Expr("int", 1, f"({{}} {rng.choice(operators)} {{}})", [a, b])


def value_for(values: Values, type_: str, depth: int) -> Expr:
    """A value to store into something of type `type_`."""
    assert type_ in TYPES
    return values.grow(KIND_OF_TYPE[type_], depth)

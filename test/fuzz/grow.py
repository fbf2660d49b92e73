"""Grows a random Program from a seed. The same seed gives the same program."""

from __future__ import annotations

import random

from extents import Unfit, fit
from program import (
    FLOATS,
    TYPES,
    Access,
    Buffer,
    Call,
    DataGuard,
    Expr,
    Guard,
    Index,
    Kernel,
    Leave,
    Loop,
    Program,
    Scalar,
    Store,
    View,
    accesses,
)
from values import KIND_OF_TYPE, Values, convert, read_expr, value_for

# Largest sizes for kernels whose deepest nest has 1, 2, 3 or 4 loops.
LARGEST = {1: 500, 2: 40, 3: 14, 4: 7}


def pick(rng: random.Random, weights: dict):
    return rng.choices(list(weights), list(weights.values()))[0]


def sum_of(name: str, constant: int = 0, coefficient: int = 1) -> Index:
    return Index(((coefficient, name),), constant)


class KernelGrower:
    def __init__(self, rng: random.Random, number: int, program: Program, types: list[str]):
        self.rng = rng
        self.program = program
        self.types = types
        self.number = number
        self.depth = pick(rng, {1: 3, 2: 5, 3: 4, 4: 2})
        self.sizes = ["n", "m", "p"][: rng.randint(1, min(3, self.depth + 1))]
        self.loops: list[str] = []
        self.scalars: list[Scalar] = []
        self.budget = rng.randint(3, 9)  # statements
        self.values = Values(rng, self.read)
        self.index = pick(rng, {"int": 60, "long": 12, "unsigned": 14, "size_t": 14})
        self.signed = self.index in ("int", "long")
        self.linear = rng.random() < 0.7  # plain subscripts only
        # Every element has an iteration of its own: most loops are parallel.
        self.tidy = rng.random() < 0.5
        # Exact sums may be reassociated.
        self.any_order = rng.random() < 0.7

    # Arrays

    def choose_views(self) -> list[View]:
        rng = self.rng
        restrict = rng.random() < 0.5
        views = []
        buffers = self.program.buffers
        for b in rng.sample(buffers, rng.randint(1, len(buffers))):
            if b.is_global:
                views.append(View(b.name, b, len(b.extents), "global"))
                continue
            dims = pick(rng, {1: 4, 2: 5, 3: 1 if self.depth < 3 else 3})
            shape = pick(rng, {"fixed": 3, "vla": 4, "flat": 3})
            view = View(f"{b.name}v", b, dims, shape, restrict)
            if shape == "vla" or rng.random() < 0.6:
                view.parameter = rng.choice(self.sizes)
            if shape == "flat" and dims > 1 and rng.random() < 0.15:
                view.short_rows = rng.randint(1, 4)
            views.append(view)
            if not restrict and rng.random() < 0.15:
                twin = View(f"{b.name}w", b, dims, shape, False, view.parameter)
                twin.offset = rng.choice([0, 0, 1, 5, 40])
                views.append(twin)
        if rng.random() < 0.1:
            b = Buffer("local", {"": rng.choice(self.types)}, "value")
            views.append(View("local", b, rng.randint(1, 2), "local"))
        return views

    def read(self, view: View, kind: str) -> Expr:
        return self.read_at(view, self.subscripts(view), kind)

    def read_at(self, view: View, subs: list[Index], kind: str) -> Expr:
        """A read, of a member of that kind if there is one."""
        members = view.buffer.members
        alike = [m for m, type_ in members.items() if KIND_OF_TYPE[type_] == kind]
        member = self.rng.choice(alike or list(members))
        return read_expr(members[member], view.buffer.role, Access(view, subs, member))

    def subscripts(self, view: View) -> list[Index]:
        """Mostly different loops in different dimensions."""
        rng = self.rng
        order = list(self.loops)
        if rng.random() < 0.3:
            rng.shuffle(order)
        order = order[-view.dims :] if rng.random() < 0.7 else order[: view.dims]
        subs = []
        for dim in range(view.dims):
            var = order[dim] if dim < len(order) else None
            subs.append(self.subscript(var))
        return subs

    def subscript(self, var: str | None) -> Index:
        rng = self.rng
        if var is None or rng.random() < 0.04:
            if self.loops and rng.random() < 0.5:
                var = rng.choice(self.loops)
            else:
                return Index((), rng.randint(0, 3))
        draw = rng.random() if not self.linear else rng.random() * 0.8
        if draw < 0.6:
            return sum_of(var)
        if draw < 0.8:
            return sum_of(var, rng.choice([-3, -2, -1, -1, 1, 1, 2, 3]))
        if draw < 0.85:
            return sum_of(var, rng.randint(0, 1), 2)
        if draw < 0.89:
            return Index(((1, rng.choice(self.sizes)), (-1, var)), -1)
        if draw < 0.95:
            other = rng.choice(self.loops)
            if other == var:
                return sum_of(var, 1, 3)
            return Index(((1, var), (rng.choice([1, 1, -1, 2]), other)), rng.randint(-1, 1))
        if draw < 0.96:
            return Index(((1, var),), rng.randint(0, 1), "%", rng.choice([2, 3]))
        if draw < 0.97:
            return Index(((1, var),), rng.randint(0, 1), "*", rng.choice(self.loops))
        if draw < 0.985:
            return Index(((1, var),), 0, "/", rng.choice([2, 3]))
        return Index(((1, var),), 0, "table", rng.choice(sorted(self.program.tables)))

    # Loops

    def loop(self) -> Loop:
        rng = self.rng
        var = "ijkl"[len(self.loops)] + str(self.number)
        size = sum_of(rng.choice(self.sizes))
        outer = rng.choice(self.loops) if self.loops else None
        forms = {"plain": 10, "constant": 1}
        if outer:
            forms |= {"upper": 3, "lower": 3, "skew": 1, "anti": 1, "band": 1, "table": 0.3}
        form = pick(rng, forms)
        low, high, cap = Index((), pick(rng, {0: 7, 1: 2, 2: 1})), size, None
        if form == "plain" and rng.random() < 0.3:
            high = size.plus(-rng.randint(1, 2))
        elif form == "constant":
            high = Index((), rng.randint(1, 9))
        elif form == "upper":
            low = sum_of(outer, rng.randint(0, 1))
        elif form == "lower":
            high = sum_of(outer, rng.randint(0, 1))
        elif form == "skew":
            low, high = sum_of(outer, rng.randint(0, 2)), Index(((1, outer), (1, size.terms[0][1])))
        elif form == "anti":
            high = Index(((1, size.terms[0][1]), (-1, outer)), rng.randint(-1, 1))
        elif form == "band":
            low, high, cap = sum_of(outer), sum_of(outer, rng.randint(2, 4)), size
        elif form == "table":
            high = Index(((1, outer),), 0, "table", rng.choice(sorted(self.program.tables)))
        if not self.loops and self.depth > 1 and rng.random() < 0.12:
            low, high = Index((), 0), Index((), rng.randint(2, 4))  # time steps
        step = pick(rng, {1: 12, 2: 1, 3: 1})
        node = Loop(var, low, high, step, [], cap=cap)
        if self.signed and rng.random() < 0.1:
            node.down = True
        elif rng.random() < 0.15:
            node.inclusive = True
        return node

    def inside(self, loop: Loop, fill):
        self.loops.append(loop.var)
        self.values.variables.append(loop.var)
        loop.body = fill()
        self.loops.pop()
        self.values.variables.pop()
        return loop

    # Statements

    def body(self) -> list:
        rng = self.rng
        depth = len(self.loops)
        nodes = []
        for _ in range(pick(rng, {1: 5, 2: 4, 3: 2})):
            if self.budget <= 0 and nodes:
                break
            choices = {"store": 0 if depth == 0 else 2 + depth}
            if depth < self.depth:
                choices["loop"] = 12
                choices["reduction"] = 3 if depth else 1.5
            if depth == 0 and self.depth > 1:
                choices["sweep"] = 2
            if depth:
                choices |= {"guard": 1, "data guard": 0.7, "temporary": 0.7, "shifted": 1.2}
                if not self.tidy:
                    choices |= {"carried": 0.6, "leave": 0.03}
            nodes += self.item(pick(rng, choices))
        return nodes

    def item(self, choice: str) -> list:
        rng = self.rng
        if choice == "loop":
            return [self.inside(self.loop(), self.body)]
        if choice == "reduction":
            return self.reduction()
        if choice == "sweep":
            return self.sweep()
        if choice == "shifted":
            return [self.shifted()]
        if choice == "guard":
            other = [self.store()] if rng.random() < 0.3 else []
            return [Guard(*self.affine_condition(), self.body(), other)]
        if choice == "data guard":
            other = [self.store()] if rng.random() < 0.3 else []
            return [DataGuard(self.values.condition(2), [self.store()], other)]
        if choice == "temporary":
            s = self.new_scalar("value")
            return [self.store(scalar=s, op="="), self.store(reads=s), self.store(reads=s)]
        if choice == "carried":
            s = self.new_scalar("value")
            return [self.store(reads=s), self.store(scalar=s)]
        if choice == "leave":
            return [Leave(self.values.condition(1), rng.choice(["break", "continue"])), self.store()]
        return [self.store()]

    def reduction(self) -> list:
        """A scalar that one loop or two nested ones add to, and its use."""
        rng = self.rng
        s = self.new_scalar(pick(rng, {"sum": 6, "exact": 2, "sign": 0.4}))
        ops = ["+=", "+=", "-=", "max", "min"]
        if s.role == "sign":
            ops = ["*="]
        elif s.role == "sum":
            ops += ["max?", "min?"]
            ops += ["fmax", "fmin"] if s.type in FLOATS else ["^=", "|=", "&="]
            ops += ["*=", "*="] if s.type in ("u32", "u64") else []
        op = rng.choice(ops)
        deep = len(self.loops) + 2 <= self.depth and rng.random() < 0.3

        def inner() -> list:
            return [self.inside(self.loop(), lambda: self.update(s, op))]

        nodes = [self.inside(self.loop(), inner)] if deep else inner()
        nodes.append(self.store(reads=s))
        if rng.random() < 0.8:
            first = Expr("int", 1, "1") if s.role in ("exact", "sign") else None
            first = first or self.values.constant(self.kind(s))
            nodes.insert(0, Store("=", first, scalar=s))
        return nodes

    def sweep(self) -> list:
        """A loop over time of one or two nests, which read what the one before
        wrote: the host's loop, with many launches."""
        rng = self.rng
        steps = Index((), rng.choice([2, 3, 5, 12, 30]))
        time = Loop("t" + str(self.number), Index(), steps, 1, [])
        views = rng.sample(self.targets, len(self.targets))

        def nest(view: View, dims: int) -> list:
            if dims:
                return [self.inside(self.loop(), lambda: nest(view, dims - 1))]
            return [self.shifted(view, rng.choice(self.views), time.var)]

        def step() -> list:
            nodes = []
            for view in views[: rng.randint(1, 2)]:
                nodes += nest(view, min(view.dims, self.depth - 1))
            return nodes

        return [self.inside(time, step)]

    def shifted(self, view: View | None = None, source: View | None = None, time: str = "") -> Store:
        """A store that reads the neighbours of its own element: of another
        array, of the same one before or after it, or of the other one of two
        halves that change places with each step of time."""
        rng = self.rng
        view = view or rng.choice(self.targets)
        source = source or view
        own = [v for v in self.loops if v != time]
        halves = time and view.dims > 1 and rng.random() < 0.4
        dims = view.dims - 1 if halves else view.dims
        subs = [sum_of(v) for v in own[-dims:]]
        subs += [Index((), rng.randint(0, 2)) for _ in range(dims - len(subs))]
        if halves:
            subs.insert(0, Index(((1, time),), 1, "%", 2))
            source = view
        shifts = rng.choice([[-1, 0, 1], [1, 2], [-1], [-2, 2], [1]])
        type_ = rng.choice(list(view.buffer.members.values()))
        value = value_for(self.values, type_, 1)
        for _ in range(rng.randint(1, 3)):
            at = [s.plus(rng.choice(shifts)) if s.terms and not s.wrap else s for s in subs]
            if halves:
                at[0] = Index(((1, time),), 0, "%", 2)
            at = (at + [Index()] * source.dims)[: source.dims]
            read = self.read_at(source, at, value.kind)
            value = combine(rng, value, self.values.small(read, 1e3))
        return self.into(view, subs, "=" if rng.random() < 0.7 else "", type_, value)

    def update(self, s: Scalar, op: str) -> list:
        """One update of a reduction, or some under a condition."""
        rng = self.rng
        nodes = [self.store(scalar=s, op=op)]
        if rng.random() < 0.3:
            other = [self.store(scalar=s, op=op)] if rng.random() < 0.3 else []
            nodes = [DataGuard(self.values.condition(1), nodes, other)]
        return nodes

    def kind(self, s: Scalar) -> str:
        return read_expr(s.type, s.role, name=s.name).kind

    def new_scalar(self, role: str) -> Scalar:
        old = [s for s in self.scalars if s.role == role]
        if old and self.rng.random() < 0.4:
            return self.rng.choice(old)
        types = [t for t in self.types if t in FLOATS or t != "bool" and role in ("sum", "value")]
        type_ = self.rng.choice(types or ["f64"])
        s = Scalar(f"s{len(self.scalars)}", type_, role, self.rng.choice(["0", "1", "2"]))
        self.scalars.append(s)
        if self.rng.random() < 0.5 and not self.tidy:
            self.values.scalars.append(s)
        return s

    def store(self, scalar: Scalar | None = None, op: str = "", reads: Scalar | None = None) -> Store:
        rng = self.rng
        view = None if scalar else rng.choice(self.targets)
        type_ = scalar.type if scalar else rng.choice(list(view.buffer.members.values()))
        role = scalar.role if scalar else view.buffer.role
        exact = role in ("exact", "sign")
        value = self.values.grow("int", 2) if exact else value_for(self.values, type_, rng.randint(1, 3))
        if reads:
            extra = read_expr(reads.type, reads.role, name=reads.name)
            extra = self.values.small(extra, 1e3)
            value = combine(rng, value, extra)
        if scalar:
            self.budget -= 1
            return self.chosen(Store(op or self.operator(type_, role), value, scalar=scalar))
        subs = self.subscripts(view)
        if self.tidy or rng.random() < 0.8:
            order = self.loops[-view.dims :] if rng.random() < 0.5 else self.loops[: view.dims]
            subs = [sum_of(v) for v in order] + subs[len(order) :]
        return self.into(view, subs, op, type_, value)

    def into(self, view: View, subs: list[Index], op: str, type_: str, value: Expr) -> Store:
        """A store into a member of that type."""
        self.budget -= 1
        b = view.buffer
        if b.role == "exact":
            value = convert(value, "int")
        member = self.rng.choice([m for m, t in b.members.items() if t == type_])
        op = op or self.operator(type_, b.role)
        return self.chosen(Store(op, value, Access(view, subs, member)))

    def chosen(self, store: Store) -> Store:
        exact = store.role() in ("exact", "sign")
        store.any_order = exact and self.any_order
        return store

    def operator(self, type_: str, role: str) -> str:
        if role == "exact":
            return pick(self.rng, {"=": 2, "+=": 6, "-=": 1, "max": 0.5, "min": 0.5})
        ops = {"=": 6, "mix": 1, "max": 0.5, "min": 0.5, "max?": 0.3, "min?": 0.3}
        if role == "sum":
            ops |= {"+=": 8, "-=": 1}
        if type_ in ("f64", "f32", "u8", "u16", "u32", "u64"):
            ops["*="] = 1
        if type_ not in ("f64", "f32"):
            ops |= {"|=": 0.4, "&=": 0.4, "^=": 0.6}
        return pick(self.rng, ops)

    def affine_condition(self):
        rng = self.rng
        parts = []
        for _ in range(pick(rng, {1: 5, 2: 1})):
            var = rng.choice(self.loops)
            other = rng.choice(self.loops + self.sizes)
            draw = rng.random()
            if draw < 0.2:
                left = Index(((1, var),), rng.randint(0, 2), "%", rng.choice([2, 3, 4]))
                parts.append((left, "==", Index((), rng.randint(0, 1))))
            elif draw < 0.3:
                parts.append((sum_of(var), rng.choice(["==", "!="]), sum_of(other)))
            elif draw < 0.5:
                parts.append((sum_of(var), rng.choice([">", ">="]), Index((), rng.randint(1, 3))))
            else:
                left = sum_of(var, rng.randint(-2, 2))
                if other != var and rng.random() < 0.3:
                    left = Index(((1, var), (1, other)))
                    other = rng.choice(self.sizes)
                parts.append((left, rng.choice(["<", "<=", ">"]), sum_of(other)))
        return parts, rng.choice(["&&", "||"])

    def grow(self) -> Kernel:
        rng = self.rng
        self.views = self.choose_views()
        self.values.views = self.views
        # Arrays that are read only leave more loops parallel.
        self.targets = rng.sample(self.views, rng.randint(1, min(2, len(self.views))))
        if self.tidy or rng.random() < 0.3:
            self.values.views = [v for v in self.views if v not in self.targets] or self.views
        self.values.sizes = self.sizes
        body = []
        while not body or (self.budget > 2 and len(body) < 3):
            body += self.body()
        result = None
        if self.scalars and rng.random() < 0.5:
            result = rng.choice(self.scalars)
        # Values that live out.
        for s in self.scalars:
            if rng.random() < 0.3:
                body.append(self.store(op="=", reads=s))
        indirect = [s for s in self.sizes if rng.random() < 0.07]
        return Kernel(
            f"kernel{self.number}",
            self.index,
            self.views,
            self.sizes,
            indirect,
            self.scalars,
            body,
            result,
            rng.random() < 0.6,
        )


def combine(rng: random.Random, a: Expr, b: Expr) -> Expr:
    """a and b in one value of a's kind."""
    b = convert(b, a.kind)
    if a.kind in ("u32", "u64"):
        return Expr(a.kind, 0, f"({{}} {rng.choice('+-^')} {{}})", [a, b])
    if a.bound > 1e8:
        a = Expr(a.kind, 1e8, "({} / 100)", [a]) if a.kind in ("int", "i64") else a
    bound = a.bound + b.bound
    if a.kind == "i64" and bound > 1e17:
        a, bound = Expr(a.kind, 1009, "({} % 1009)", [a]), 1009 + b.bound
    return Expr(a.kind, bound, f"({{}} {rng.choice('+-')} {{}})", [a, b])


def grow_once(rng: random.Random, seed: int) -> Program:
    palette = ["f64"] * 8 + ["f32"] * 3 + list(TYPES)
    types = [rng.choice(palette) for _ in range(rng.randint(1, 3))]
    tables = {"table0": [rng.randint(0, 9) for _ in range(64)]}
    program = Program(seed, [], tables, [], [])
    for i in range(rng.randint(2, 5)):
        role = pick(rng, {"value": 6, "sum": 4})
        members = {"": rng.choice(types)}
        if members[""] in FLOATS and rng.random() < 0.12:
            role = "exact"
        elif rng.random() < 0.12:
            members = {name: rng.choice([*types, "i8"]) for name in "xyz"[: rng.randint(2, 3)]}
        b = Buffer(f"b{i}", members, role)
        if rng.random() < 0.25:
            b.is_global = True
            b.extents = [1] * pick(rng, {1: 3, 2: 5, 3: 1})
        program.buffers.append(b)
    for number in range(pick(rng, {1: 5, 2: 3})):
        grower = KernelGrower(rng, number, program, types)
        kernel = grower.grow()
        program.kernels.append(kernel)
        for _ in range(pick(rng, {1: 2, 2: 3, 3: 1})):
            most = LARGEST[grower.depth]
            sizes = {}
            for name in kernel.parameters:
                usual = rng.randint(2, most)
                sizes[name] = pick(rng, {usual: 12, 1: 0.7, 0: 0.7, 2: 0.6})
            program.calls.append(Call(kernel, sizes))
    return program


def grow_program(seed: int) -> Program:
    """A program with some work, none too large."""
    attempt = 0
    while True:
        program = grow_once(random.Random(seed * 1000 + attempt), seed)
        attempt += 1
        try:
            instances = fit(program)
        except Unfit:
            continue
        stores = any(True for k in program.kernels for _ in accesses(k))
        if instances >= 30 and stores:
            return program

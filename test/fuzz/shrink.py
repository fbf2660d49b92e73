"""Makes a failing program smaller: one change at a time, kept if the program
still fails. Changes delete calls, statements and loops, replace values by
their operands and by constants, and make subscripts and sizes plain.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator

from extents import Unfit, fit
from program import (
    FLOATS,
    DataGuard,
    Expr,
    Guard,
    Index,
    Loop,
    Program,
    Store,
    View,
    accesses,
    statements,
)

# A change takes a copy of the program; the position says which of the many
# places it changes. It returns False where there is nothing to do.
Change = Callable[[Program, int], bool]


def bodies(program: Program) -> Iterator[list]:
    for kernel in program.kernels:
        yield kernel.body
        for node in statements(kernel.body):
            for name in ("body", "other"):
                inner = getattr(node, name, None)
                if inner:
                    yield inner


def places(program: Program) -> list[tuple[list, int]]:
    return [(body, i) for body in bodies(program) for i in range(len(body))]


def roots(program: Program) -> list[tuple[object, str]]:
    """Every expression, as the object and attribute or list slot of it."""
    found: list = []

    def walk(owner, key):
        e = getattr(owner, key) if isinstance(key, str) else owner[key]
        found.append((owner, key))
        for i in range(len(e.args)):
            walk(e.args, i)

    for kernel in program.kernels:
        for node in statements(kernel.body):
            for name in ("value", "condition"):
                if getattr(node, name, None):
                    walk(node, name)
    return found


def put(owner, key, value):
    if isinstance(key, str):
        setattr(owner, key, value)
    else:
        owner[key] = value


def get(owner, key) -> Expr:
    return getattr(owner, key) if isinstance(key, str) else owner[key]


def drop_call(program: Program, at: int) -> bool:
    del program.calls[at]
    used = {id(c.kernel) for c in program.calls}
    program.kernels = [k for k in program.kernels if id(k) in used]
    return bool(program.calls)


def drop_statement(program: Program, at: int) -> bool:
    body, i = places(program)[at]
    del body[i]
    return True


def unwrap(program: Program, at: int) -> bool:
    """A loop or a guard becomes its body."""
    body, i = places(program)[at]
    node = body[i]
    if isinstance(node, Loop):
        fix(node.body, node.var, node.low)
        body[i : i + 1] = node.body
        return True
    if isinstance(node, (Guard, DataGuard)):
        body[i : i + 1] = node.body
        return True
    return False


def replaced(index: Index, name: str, by: Index) -> Index | None:
    if name not in index.names():
        return index
    if by.wrap:
        return None
    terms, constant = [], index.constant
    for coefficient, n in index.terms:
        if n == name:
            terms += [(coefficient * c, m) for c, m in by.terms]
            constant += coefficient * by.constant
        else:
            terms.append((coefficient, n))
    return Index(tuple(terms), constant, index.wrap, index.by)


def fix(body: list, name: str, value: Index):
    """Uses `value` for a loop variable that is gone."""

    def new(index: Index | None) -> Index | None:
        if index is None:
            return None
        result = replaced(index, name, value)
        if result is None:
            raise Unfit("substitution")
        return result

    for node in statements(body):
        if isinstance(node, Loop):
            node.low, node.high, node.cap = new(node.low), new(node.high), new(node.cap)
        if isinstance(node, Guard):
            node.parts = [(new(a), op, new(b)) for a, op, b in node.parts]
        if isinstance(node, Store) and node.access:
            node.access.subs = [new(s) for s in node.access.subs]
        for key in ("value", "condition"):
            root = getattr(node, key, None)
            for e in root.walk() if root else []:
                if e.access:
                    e.access.subs = [new(s) for s in e.access.subs]
                if name in e.names:
                    e.text, e.names, e.bound = "1", (), 1


def simplify_value(program: Program, at: int, way: int) -> bool:
    owner, key = roots(program)[at]
    e = get(owner, key)
    if way < len(e.args):
        if e.args[way].kind != e.kind or e.args[way].bound > max(e.bound, 1):
            return False
        put(owner, key, e.args[way])
        return True
    if way < 3 or (not e.args and not e.access and not e.names):
        return False
    one = {"f64": "1.0", "f32": "1.0f"}.get(e.kind, "1")
    if e.kind not in FLOATS and e.kind != "int":
        one = {"u32": "1u", "i64": "1ll", "u64": "1ull"}[e.kind]
    put(owner, key, Expr(e.kind, min(1.0, max(e.bound, 1.0)), one))
    return True


def plain_loop(program: Program, at: int, way: int) -> bool:
    nodes = [n for k in program.kernels for n in statements(k.body) if isinstance(n, Loop)]
    node = nodes[at]
    before = (node.low, node.high, node.step, node.cap, node.down, node.inclusive)
    if way == 0:
        node.step = 1
    elif way == 1:
        node.cap = None
    elif way == 2:
        node.down = node.inclusive = False
    elif way == 3:
        node.low = Index((), 0)
    elif way == 4 and not node.high.wrap:
        node.high = Index(node.high.terms, 0)
    elif way == 5:
        node.high = Index((), 4)
    return before != (node.low, node.high, node.step, node.cap, node.down, node.inclusive)


def plain_subscript(program: Program, at: int, way: int) -> bool:
    found = [a for k in program.kernels for a in accesses(k)]
    a = found[at]
    if way >= len(a.subs):
        return False
    old = a.subs[way]
    if old.wrap:
        a.subs[way] = Index(old.terms, old.constant)
    elif old.constant and old.terms:
        a.subs[way] = Index(old.terms)
    elif len(old.terms) > 1:
        a.subs[way] = Index(old.terms[:1])
    elif old.terms:
        a.subs[way] = Index()
    else:
        return False
    return True


def plain_view(program: Program, at: int, way: int) -> bool:
    views: list[View] = [v for k in program.kernels for v in k.views]
    v = views[at]
    before = (v.shape, v.parameter, v.offset, v.restrict, v.short_rows)
    if way == 0:
        v.offset = 0
    elif way == 1:
        v.short_rows = 0
    elif way == 2 and v.shape in ("vla", "flat"):
        v.parameter = ""
    elif way == 3 and v.shape in ("vla", "flat"):
        v.shape = "fixed"
    elif way == 4:
        v.restrict = True
    return before != (v.shape, v.parameter, v.offset, v.restrict, v.short_rows)


def plain_kernel(program: Program, at: int, way: int) -> bool:
    k = program.kernels[at]
    before = (k.index, list(k.indirect), k.result, k.is_static, len(k.scalars))
    if way == 0:
        k.index = "int"
    elif way == 1:
        k.indirect = []
    elif way == 2:
        k.result = None
    elif way == 3:
        k.is_static = False
    elif way == 4:
        used = {id(k.result)}
        text = ""
        for node in statements(k.body):
            if isinstance(node, Store):
                used.add(id(node.scalar))
                text += node.value.c()
            elif hasattr(node, "condition"):
                text += node.condition.c()
        k.scalars = [s for s in k.scalars if id(s) in used or s.name in text]
    return before != (k.index, list(k.indirect), k.result, k.is_static, len(k.scalars))


def plain_store(program: Program, at: int, way: int) -> bool:
    nodes = [n for k in program.kernels for n in statements(k.body) if isinstance(n, Store)]
    node = nodes[at]
    if node.op == "=" or way:
        return False
    node.op = "="
    return True


def smaller_size(program: Program, at: int, way: int) -> bool:
    call = program.calls[at]
    names = sorted(call.sizes)
    if way >= 2 * len(names):
        return False
    name = names[way // 2]
    old = call.sizes[name]
    call.sizes[name] = old // 2 if way % 2 else old - 1
    return old > 1


# Change, number of places, ways at each place; coarse ones first.
CHANGES = [
    (lambda p, at, way: drop_call(p, at), lambda p: len(p.calls), 1),
    (lambda p, at, way: drop_statement(p, at), lambda p: len(places(p)), 1),
    (lambda p, at, way: unwrap(p, at), lambda p: len(places(p)), 1),
    (simplify_value, lambda p: len(roots(p)), 5),
    (plain_loop, lambda p: sum(isinstance(n, Loop) for b in bodies(p) for n in b), 6),
    (plain_subscript, lambda p: sum(1 for k in p.kernels for _ in accesses(k)), 3),
    (plain_view, lambda p: sum(len(k.views) for k in p.kernels), 5),
    (plain_kernel, lambda p: len(p.kernels), 5),
    (plain_store, lambda p: sum(isinstance(n, Store) for b in bodies(p) for n in b), 1),
    (smaller_size, lambda p: len(p.calls), 6),
]


def attempt(program: Program, change, at: int, way: int) -> Program | None:
    candidate = copy.deepcopy(program)
    try:
        if not change(candidate, at, way):
            return None
        fit(candidate)
    except Unfit:
        return None
    except NameError:  # a loop variable outside of its loop
        return None
    return candidate


def shrink(program: Program, fails: Callable[[Program], bool]) -> Program:
    progress = True
    while progress:
        progress = False
        for change, count, ways in CHANGES:
            at = 0
            while at < count(program):
                kept = False
                for way in range(ways):
                    if at >= count(program):
                        break
                    candidate = attempt(program, change, at, way)
                    if candidate and fails(candidate):
                        program, kept, progress = candidate, True, True
                        break
                if not kept:
                    at += 1
    return program

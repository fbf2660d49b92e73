"""Walks the iterations of a program's calls and gives every array the extents
that its accesses need, so that no program reads or writes out of bounds.

A kernel's loops and affine guards become a Python function; conditions on data
count as true and false. Where a subscript is negative somewhere, all accesses
of that view are shifted alike.
"""

from __future__ import annotations

from program import (
    Access,
    DataGuard,
    Guard,
    Kernel,
    Leave,
    Loop,
    Program,
    Store,
    View,
    accesses,
    expressions,
)

# Statement instances of one program; a larger one is refused.
MOST_INSTANCES = 30000
# Elements of one buffer.
MOST_ELEMENTS = 20000


class Unfit(Exception):
    """The program is too large, or a loop does not suit its index type."""


def rem(a: int, b: int) -> int:
    return a - b * quo(a, b)


def quo(a: int, b: int) -> int:
    return abs(a) // b * (1 if a >= 0 else -1)


def look(table: list[int], at: int) -> int:
    if not 0 <= at < len(table):
        raise Unfit("table")
    return table[at]


class Walker:
    """Python text of one kernel."""

    def __init__(self, kernel: Kernel):
        self.kernel = kernel
        self.signed = kernel.index in ("int", "long")
        self.lines = [f"def walk({', '.join(kernel.parameters)}):"]
        self.slots: list[tuple[Access, int]] = []
        self.names: set[str] = set()
        self.emit(kernel.body, 1)
        self.lines.append("  return")

    def use(self, *indices):
        for i in indices:
            self.names |= i.names()

    def check(self, depth: int, *indices):
        """C's unsigned arithmetic is not Python's."""
        self.use(*indices)
        for i in indices:
            if i.wrap and not self.signed:
                self.add(depth, f"if {i.sum()} < 0: unfit()")

    def add(self, depth: int, text: str):
        self.lines.append("  " * depth + text)

    def touch(self, access: Access, depth: int):
        for dim, sub in enumerate(access.subs):
            self.check(depth, sub)
            slot = len(self.slots)
            self.slots.append((access, dim))
            self.add(depth, f"s = {sub.py()}")
            self.add(depth, f"if s < low[{slot}]: low[{slot}] = s")
            self.add(depth, f"if s > high[{slot}]: high[{slot}] = s")

    def emit(self, body: list, depth: int):
        if not body:
            self.add(depth, "pass")
        for node in body:
            for e in expressions(node):
                self.names.update(e.names)
                if e.access:
                    self.touch(e.access, depth)
            if isinstance(node, Store):
                self.add(depth, "tick()")
                if node.access:
                    self.touch(node.access, depth)
            elif isinstance(node, Loop):
                self.loop(node, depth)
            elif isinstance(node, Guard):
                parts = []
                for a, op, b in node.parts:
                    self.check(depth, a, b)
                    parts.append(f"{a.py()} {op} {b.py()}")
                join = " and " if node.join == "&&" else " or "
                self.add(depth, f"if {join.join(parts)}:")
                self.emit(node.body, depth + 1)
                if node.other:
                    self.add(depth, "else:")
                    self.emit(node.other, depth + 1)
            elif isinstance(node, DataGuard):
                self.emit(node.body, depth)
                self.emit(node.other, depth)
            else:
                assert isinstance(node, Leave)

    def loop(self, node: Loop, depth: int):
        v = node.var
        self.check(depth, node.low, node.high)
        self.add(depth, f"a, b = {node.low.py()}, {node.high.py()}")
        if node.cap:
            self.check(depth, node.cap)
            self.add(depth, f"b = min(b, {node.cap.py()})")
        if not self.signed:
            limit = 1 if node.inclusive else 0
            self.add(depth, f"if a < 0 or b < {limit}: unfit()")
        if node.down:
            self.add(depth, f"for {v} in range(b - 1, a - 1, -{node.step}):")
        else:
            self.add(depth, f"for {v} in range(a, b, {node.step}):")
        self.add(depth + 1, f"if abs({v}) > 2000: unfit()")
        self.emit(node.body, depth + 1)


def walk_kernel(program: Program, kernel: Kernel, counter: list[int]):
    """Per call: {view: [(low, high) of every dimension]}, None if untouched."""
    walker = Walker(kernel)

    def tick():
        counter[0] += 1
        if counter[0] > MOST_INSTANCES:
            raise Unfit("size")

    def unfit():
        raise Unfit("index type")

    scope = {"rem": rem, "quo": quo, "look": look, "tick": tick, "unfit": unfit}
    scope.update(program.tables)
    scope["low"] = low = [0] * len(walker.slots)
    scope["high"] = high = [0] * len(walker.slots)
    exec("\n".join(walker.lines), scope)  # pylint: disable=exec-used
    found = []
    for call in program.calls:
        if call.kernel is not kernel:
            continue
        low[:] = [1 << 30] * len(low)
        high[:] = [-(1 << 30)] * len(high)
        scope["walk"](**call.sizes)
        ranges: dict[View, list] = {}
        for slot, (access, dim) in enumerate(walker.slots):
            if low[slot] <= high[slot]:
                dims = ranges.setdefault(access.view, [None] * access.view.dims)
                old = dims[dim] or (low[slot], high[slot])
                dims[dim] = (min(old[0], low[slot]), max(old[1], high[slot]))
        found.append((call, ranges))
    return found, walker.names


def place_view(view: View, calls: list) -> int:
    """Sets shifts and rows; the number of elements that the view needs."""
    dims = range(view.dims)
    ranges = [(call, r[view]) for call, r in calls if view in r]
    view.shifts = [max([0] + [-r[d][0] for _, r in ranges]) for d in dims]
    # Per call, the extent of each dimension.
    needs = [(call, [r[d][1] + view.shifts[d] + 1 for d in dims]) for call, r in ranges]
    if view.shape in ("fixed", "global", "local") or not view.parameter:
        view.parameter = ""
        view.rows = [max([1] + [n[d] for _, n in needs]) for d in dims]
    else:
        # The row must be long enough in every call, also where n is small.
        sizes = [call.sizes[view.parameter] for call, _ in calls]
        at_least = 1 - min(sizes) if sizes else 1
        view.rows = [
            max([at_least] + [n[d] - call.sizes[view.parameter] for call, n in needs])
            for d in dims
        ]
    if view.shape == "flat" and view.dims > 1:
        view.rows[1] -= view.short_rows
        if view.parameter:
            view.rows[1] = max(view.rows[1], at_least)
        else:
            view.rows[1] = max(view.rows[1], 1)
    size = 1
    for call, _ in calls:
        row = [view.rows[d] for d in dims]
        if view.parameter:
            row = [r + call.sizes[view.parameter] for r in row]
        last = 0
        for d in dims:
            extent = max([1] + [n[d] for c, n in needs if c is call])
            last = last * row[d] + extent - 1 if d else extent - 1
        if view.shape in ("fixed", "vla"):
            last = max([1] + [n[0] for c, n in needs if c is call])
            for d in dims[1:]:
                last *= row[d]
        size = max(size, last + 1)
    return size


def fit(program: Program) -> int:
    """Gives all views, buffers and parameter lists their sizes. Returns the
    number of statement instances; raises Unfit."""
    counter = [0]
    for b in program.buffers:
        b.size, b.extents = 1, []
    shared: dict = {}
    for kernel in program.kernels:
        calls, names = walk_kernel(program, kernel, counter)
        touched = {access.view for access in accesses(kernel)}
        kernel.views = [v for v in kernel.views if v in touched]
        for view in kernel.views:
            size = place_view(view, calls)
            if size > MOST_ELEMENTS:
                raise Unfit("size")
            buffer = view.buffer
            if view.shape in ("global", "local"):
                shared.setdefault(buffer, []).append(view)
            else:
                buffer.size = max(buffer.size, view.offset + size)
            if view.parameter:
                names.add(view.parameter)
        kernel.used = [p for p in kernel.parameters if p in names]
    for buffer, views in shared.items():
        dims = range(views[0].dims)
        buffer.extents = [max(v.rows[d] for v in views) for d in dims]
        for v in views:
            v.rows = list(buffer.extents)
        buffer.size = 1
        for e in buffer.extents:
            buffer.size *= e
    for buffer in program.memory():
        if buffer.size > MOST_ELEMENTS:
            raise Unfit("size")
    return counter[0]

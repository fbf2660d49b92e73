"""What the compiler decided for the blocks of kernels, from the YAML files that
clang writes with -fsave-optimization-record."""

from dataclasses import dataclass, field

PASS = "polly-acc-blocks"
# The numbers of a candidate, after its shape.
TERMS = ("time", "issue", "l1", "l2", "dram", "latency", "start")


class RecordError(Exception):
    """A file that is no optimisation record."""


@dataclass
class Candidate:
    """A shape, its terms in microseconds, active and possible warps, what
    limits them, sectors per request, waves and tail."""
    shape: tuple
    terms: dict
    warps: int
    max_warps: int
    limit: str
    sectors: float
    waves: float
    tail: float


@dataclass
class Kernel:
    """name, place ("gemm.c:12"), the chosen shape and how it was chosen,
    estimated microseconds (None: not ranked), threads ("1000 x 1000"),
    registers as text, accesses as text, candidates best first, and the shapes
    of smaller launches with their most threads per multiprocessor."""
    name: str
    place: str
    block: tuple
    reason: str
    time: float = None
    bound: str = ""
    threads: str = ""
    registers: str = ""
    accesses: list = field(default_factory=list)
    candidates: list = field(default_factory=list)
    smaller: list = field(default_factory=list)

    def block_of(self, threads_sm):
        """The shape of a launch of so many threads per multiprocessor."""
        return next((block for most, block in self.smaller
                     if threads_sm <= most), self.block)


def shape(text):
    """(64, 4, 1) for "64x4"."""
    parts = [int(part) for part in text.split("x")]
    return tuple(parts + [1] * (3 - len(parts)))


def shape_text(block):
    """"64x4" for (64, 4, 1)."""
    parts = [str(n) for n in block]
    while len(parts) > 1 and parts[-1] == "1":
        parts.pop()
    return "x".join(parts)


def _candidate(text):
    words = text.split()
    terms = dict(zip(TERMS, map(float, words[1:8])))
    warps, max_warps = map(int, words[8].split("/"))
    return Candidate(shape(words[0]), terms, warps, max_warps, words[9],
                     *map(float, words[10:13]))


def _smaller(text):
    """[(500, (32, 4, 1))] for "32x4 up to 500 threads per SM"."""
    return [(int(words[3]), shape(words[0]))
            for words in map(str.split, text.split(", ")) if words]


def _unquote(text):
    text = text.strip()
    if len(text) >= 2 and text[0] == text[-1] == "'":
        return text[1:-1].replace("''", "'")
    if len(text) >= 2 and text[0] == text[-1] == '"':
        return text[1:-1].encode().decode("unicode_escape")
    return text


def _documents(lines):
    """Each remark as (pass, place, [(key, value), ...]). LLVM writes one
    "Key: value" per line, so that this needs no YAML library."""
    name = place = ""
    arguments = []
    for line in lines:
        line = line.rstrip("\n")
        if line.startswith("--- "):
            name, place, arguments = "", "", []
        elif line.startswith("..."):
            yield name, place, arguments
        elif line.startswith("Pass:"):
            name = _unquote(line[5:])
        elif line.startswith("DebugLoc:"):
            place = line[9:].strip(" {}")
        elif place.endswith(","):  # long paths: the line goes on in the next
            place += line.strip(" {}")
        elif line.startswith("  - "):
            key, _, value = line[4:].partition(":")
            arguments.append((key, _unquote(value)))


def _place(text):
    """"gemm.c:12" for "File: 'gemm.c', Line: 12, Column: 3"."""
    fields = dict(part.strip().split(": ", 1) for part in text.split(",")
                  if ": " in part)
    if "File" not in fields:
        return ""
    return f"{_unquote(fields['File'])}:{fields.get('Line', '')}"


def read(path):
    """The kernels of a file, in order."""
    kernels = []
    with open(path, encoding="utf-8", errors="replace") as file:
        first = file.readline()
        if first and not first.startswith("--- "):
            raise RecordError(f"{path} is no optimisation record: compile with "
                              "-fsave-optimization-record")
        for name, place, arguments in _documents([first, *file]):
            if name != PASS:
                continue
            one = dict(arguments)
            if "Block" not in one:
                continue
            time = one.get("Time", "").split(" ")[0]
            kernels.append(Kernel(
                one["Kernel"], _place(place), shape(one["Block"]),
                one["Reason"], float(time) if time else None,
                one.get("Bound", ""), one.get("Threads", ""),
                one.get("Registers", ""),
                [value for key, value in arguments if key == "Access"],
                [_candidate(value) for key, value in arguments
                 if key == "Candidate"], _smaller(one.get("Smaller", ""))))
    return kernels

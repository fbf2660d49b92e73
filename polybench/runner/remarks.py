"""Reads clang's optimisation record (-fsave-optimization-record): why loop
nests and launches were left alone."""

import csv
import re
from dataclasses import dataclass

_ARGUMENT = re.compile(r"^  - [\w-]+:\s*(?:'((?:[^']|'')*)'|\"([^\"]*)\"|(.*))$",
                       re.MULTILINE)
COLUMNS = ("commit", "suite", "kernel", "part", "function", "line", "reason")


@dataclass(frozen=True, order=True)
class Missed:
    """What was left alone: the function, the line (0 if it is not known), and
    the reason."""
    function: str
    line: int
    reason: str


def missed(text):
    """The Missed of a record in YAML, in the order of the source."""
    found = set()
    for entry in text.split("\n--- !"):
        if not entry.removeprefix("--- !").startswith("Missed"):
            continue
        function = re.search(r"^Function:\s*'?([^'\n]*)", entry, re.MULTILINE)
        line = re.search(r"Line: (\d+)", entry)
        # Strings that are too long for a line go on in the next.
        words = [(quoted.replace("''", "'") or double or plain)
                 for quoted, double, plain in
                 _ARGUMENT.findall(re.sub(r"\n {6,}", " ", entry))]
        found.add(Missed(function.group(1) if function else "",
                         int(line.group(1)) if line else 0, "".join(words)))
    return sorted(found)


def is_kernel(function):
    """Whether a function of PolyBench is what is timed."""
    return function.startswith("kernel_")


def write(path, manifest):
    """Writes what a manifest's programs left alone to a CSV file; what several
    datasets or configurations of a kernel have in common is there once. The
    part is `kernel`, or `other` for what prepares and prints."""
    rows = {(job["kernel"], *note): None for job in manifest["jobs"]
            for note in job["program"]["not_offloaded"]}
    with open(path, "w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(COLUMNS)
        for kernel, function, line, reason in rows:
            part = "kernel" if is_kernel(function) else "other"
            writer.writerow([manifest["commit"], manifest["suite"], kernel,
                             part, function, line, reason])

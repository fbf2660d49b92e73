"""Reads the arrays that a PolyBench program dumps, and compares two dumps.

Three formats are read:

* marked text, as PolyBench/C 4 prints it: `begin dump: NAME`, values,
  `end   dump: NAME`;
* plain text, as older versions and PolyBench-ACC print it: values only, which
  become one array with the name "";
* binary, as common/dump_binary.c writes it: a line `PBDUMP 1`, then for each
  array a line `array NAME COUNT` (NAME is - if there is none) and COUNT doubles
  of 8 bytes.

A value is a decimal or hexadecimal number, nan or inf.
"""

import math
import os
import re
from array import array

BINARY_MAGIC = b"PBDUMP 1\n"
_BEGIN = re.compile(r"begin\s+dump:\s*")
_END = re.compile(r"end\s+dump:\s*(\S+)")


class DumpError(Exception):
    """A file that is not a whole dump. The message says what is wrong."""


def _number(word):
    if "0x" in word:
        return float.fromhex(word)
    return float(word)


def _values(text, where):
    words = text.split()
    try:
        return array("d", map(float, words))
    except ValueError:
        pass
    values = array("d")
    for word in words:
        try:
            values.append(_number(word))
        except ValueError:
            raise DumpError(f"{where}: '{word[:40]}' is not a number") from None
    return values


def _parse_marked(text, source):
    arrays = {}
    position = 0
    while True:
        begin = _BEGIN.search(text, position)
        if not begin:
            return arrays
        shown = text[begin.end():begin.end() + 40].split()[:1]
        end = _END.search(text, begin.end())
        if not end:
            raise DumpError(f"{source}: array {shown} has no end: the program "
                            "was cut short")
        # trisolv prints its first value right behind the name, so that only
        # the end mark tells the name.
        name = end.group(1)
        if not text.startswith(name, begin.end()):
            raise DumpError(f"{source}: array {shown} is ended by '{name}'")
        if name in arrays:
            raise DumpError(f"{source}: array '{name}' is there twice")
        arrays[name] = _values(text[begin.end() + len(name):end.start()],
                               f"{source}: array '{name}'")
        position = end.end()


def _parse_binary(data, source):
    arrays = {}
    position = len(BINARY_MAGIC)
    while position < len(data):
        stop = data.find(b"\n", position)
        words = data[position:stop].decode("ascii", "replace").split()
        if stop < 0 or len(words) != 3 or words[0] != "array":
            raise DumpError(f"{source}: no array starts at byte {position}")
        name, count = "" if words[1] == "-" else words[1], int(words[2])
        position = stop + 1
        values = array("d")
        values.frombytes(data[position:position + 8 * count]
                         [:(len(data) - position) // 8 * 8])
        if len(values) != count:
            raise DumpError(f"{source}: array '{name}' has {len(values)} of "
                            f"{count} values: the program was cut short")
        arrays[name] = values
        position += 8 * count
    return arrays


def parse(data, source="dump"):
    """The arrays of a dump, given as bytes, as {name: array of doubles} in the
    dump's order. Raises DumpError if it is none or not whole."""
    if data.startswith(BINARY_MAGIC):
        arrays = _parse_binary(data, source)
    else:
        text = data.decode("utf-8", "replace")
        if _BEGIN.search(text):
            arrays = _parse_marked(text, source)
        else:
            text = re.sub(r"==(BEGIN|END)\s+DUMP_ARRAYS==", "", text)
            arrays = {"": _values(text, source)}
    if not any(len(values) for values in arrays.values()):
        raise DumpError(f"{source}: no values: was the program built with "
                        "-DPOLYBENCH_DUMP_ARRAYS?")
    return arrays


def read(path):
    """The arrays of the dump in the file at `path`."""
    with open(path, "rb") as stream:
        return parse(stream.read(), os.fspath(path))


class Comparison:
    """How a dump differs from a reference.

    values        number of values of the reference
    problems      what cannot be compared: other names, other counts
    differing     values whose bits differ (0.0 and -0.0 count as equal)
    outside       values outside the tolerance
    max_absolute  largest |value - reference|, and its place
    max_relative  largest |value - reference| / |reference|, and its place;
                  a reference of 0 has no relative error
    max_scaled    largest |value - reference| / largest finite |reference| of
                  the same array
    A place is (array name, index) or None. A NaN or an infinity on one side
    only is an infinite error.
    """

    def __init__(self):
        self.values = 0
        self.problems = []
        self.differing = 0
        self.outside = 0
        self.max_absolute = 0.0
        self.max_absolute_at = None
        self.max_relative = 0.0
        self.max_relative_at = None
        self.max_scaled = 0.0

    @property
    def identical(self):
        return not self.problems and self.differing == 0

    @property
    def ok(self):
        return not self.problems and self.outside == 0

    def _add(self, name, expected, got, tolerance):
        """Adds an array whose values differ. Arrays have millions of values:
        what is done for each is one call."""
        scale = max((abs(value) for value in expected
                     if math.isfinite(value)), default=0.0)
        absolute = array("d", map(_absolute_error, expected, got))
        relative = array("d", map(_relative_error, absolute, expected))
        self.differing += len(absolute) - absolute.count(0.0)
        largest = max(absolute)
        if largest > self.max_absolute:
            self.max_absolute = largest
            self.max_absolute_at = (name, absolute.index(largest))
        if largest > 0.0:
            self.max_scaled = max(self.max_scaled, largest / scale
                                  if scale > 0.0 else math.inf)
        if not tolerance.allows(largest, 0.0, scale):
            self.outside += sum(
                not tolerance.allows(error, value, scale)
                for error, value in zip(absolute, expected) if error > 0.0)
        largest = max(relative)
        if largest > self.max_relative:
            self.max_relative = largest
            self.max_relative_at = (name, relative.index(largest))


def _absolute_error(expected, got):
    if expected == got:
        return 0.0
    error = abs(got - expected)
    if error == error:
        return error
    return 0.0 if expected != expected and got != got else math.inf


def _relative_error(absolute, expected):
    if absolute == 0.0 or expected == 0.0:
        return 0.0
    return absolute / abs(expected) if math.isfinite(expected) else math.inf


class Tolerance:
    """A value is within it if one of these holds:
    |value - reference| <= atol, <= rtol * |reference|,
    <= stol * the largest finite |reference| of the array."""

    def __init__(self, rtol=0.0, atol=0.0, stol=0.0):
        self.rtol = rtol
        self.atol = atol
        self.stol = stol

    def allows(self, absolute, expected, scale):
        if not math.isfinite(absolute):
            return False
        return (absolute <= self.atol or absolute <= self.stol * scale or
                absolute <= self.rtol * abs(expected))


EXACT = Tolerance()


def compare(reference, result, tolerance=EXACT):
    """Compares two sets of arrays as parse() returns them."""
    outcome = Comparison()
    outcome.values = sum(len(values) for values in reference.values())
    if list(reference) != list(result):
        outcome.problems.append(
            "the arrays are " + _names(result) + " instead of " +
            _names(reference))
    for name, expected in reference.items():
        got = result.get(name)
        if got is None:
            continue
        if len(got) != len(expected):
            outcome.problems.append(f"array '{name}' has {len(got)} values "
                                    f"instead of {len(expected)}")
            continue
        if got == expected:
            continue
        outcome._add(name, expected, got, tolerance)
    return outcome


def _names(arrays):
    return ", ".join(f"'{name}'" for name in arrays) or "none"

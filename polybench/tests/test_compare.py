"""Tests of runner/dumps.py and compare.py."""

import contextlib
import io
import json
import math
import os
import shutil
import subprocess
import tempfile
import unittest
from array import array
from pathlib import Path

from support import POLYBENCH

import compare
from runner import dumps

MARKED = """==BEGIN DUMP_ARRAYS==
begin dump: x
1.00 2.50 -3.00
0x1.8p+1
end   dump: x
begin dump: path
7
end   dump: path
==END   DUMP_ARRAYS==
"""


def marked(**arrays):
    return "".join(f"begin dump: {name}\n{' '.join(map(str, values))}\n"
                   f"end   dump: {name}\n" for name, values in arrays.items())


def binary(**arrays):
    data = dumps.BINARY_MAGIC
    for name, values in arrays.items():
        data += f"array {name} {len(values)}\n".encode()
        data += array("d", values).tobytes()
    return data


class Parse(unittest.TestCase):

    def test_marked_text(self):
        arrays = dumps.parse(MARKED.encode())
        self.assertEqual(list(arrays), ["x", "path"])
        self.assertEqual(list(arrays["x"]), [1.0, 2.5, -3.0, 3.0])
        self.assertEqual(list(arrays["path"]), [7.0])

    def test_end_mark_between_arrays(self):
        text = MARKED.replace("begin dump: path",
                              "==END   DUMP_ARRAYS==\nbegin dump: path")
        self.assertEqual(list(dumps.parse(text.encode())), ["x", "path"])

    def test_plain_text(self):
        arrays = dumps.parse(b"1.0 2.0\n3.0 nan\n")
        self.assertEqual(list(arrays), [""])
        self.assertEqual(list(arrays[""])[:3], [1.0, 2.0, 3.0])
        self.assertTrue(math.isnan(arrays[""][3]))

    def test_marks_without_names(self):
        text = b"==BEGIN DUMP_ARRAYS==\n1 2\n==END   DUMP_ARRAYS==\n"
        self.assertEqual(list(dumps.parse(text)[""]), [1.0, 2.0])

    def test_binary(self):
        # Values whose bytes look like line ends or array lines.
        odd = array("d", b"\narray x" + b"\n" * 8)
        arrays = dumps.parse(binary(A=[0.1, -1e300], s=odd))
        self.assertEqual(list(arrays["A"]), [0.1, -1e300])
        self.assertEqual(arrays["s"], odd)

    def check_error(self, data, message):
        with self.assertRaisesRegex(dumps.DumpError, message):
            dumps.parse(data)

    def test_cut_short(self):
        self.check_error(MARKED[:60].encode(), "has no end")
        whole = binary(A=[1.0, 2.0, 3.0])
        for cut in range(1, 24):
            self.check_error(whole[:-cut], "of 3 values")
        self.check_error(whole + b"array B", "no array starts")

    def test_not_a_dump(self):
        self.check_error(b"", "no values")
        self.check_error(b"==BEGIN DUMP_ARRAYS==\n", "no values")
        self.check_error(b"Segmentation fault", "'Segmentation'")
        self.check_error(marked(x=[1, "abc"]).encode(), "'abc'")
        self.check_error((MARKED + MARKED).encode(), "there twice")
        self.check_error(b"begin dump: a\n1\nend   dump: b\n", "ended by 'b'")


class Compare(unittest.TestCase):

    def outcome(self, expected, got, **tolerance):
        return dumps.compare({"A": array("d", expected)},
                             {"A": array("d", got)},
                             dumps.Tolerance(**tolerance))

    def test_equal(self):
        outcome = self.outcome([1, -0.0, math.nan, math.inf],
                               [1, 0.0, math.nan, math.inf])
        self.assertTrue(outcome.ok and outcome.identical)
        self.assertEqual(outcome.values, 4)

    def test_largest_errors_and_places(self):
        outcome = self.outcome([1000, 1, 0, 5], [1001, 1.5, 0.25, 5])
        self.assertFalse(outcome.ok)
        self.assertEqual(outcome.differing, 3)
        self.assertEqual(outcome.max_absolute, 1)
        self.assertEqual(outcome.max_absolute_at, ("A", 0))
        self.assertEqual(outcome.max_relative, 0.5)
        self.assertEqual(outcome.max_relative_at, ("A", 1))

    def test_tolerances(self):
        self.assertTrue(self.outcome([100], [101], rtol=0.01).ok)
        self.assertFalse(self.outcome([100], [101], rtol=0.0099).ok)
        self.assertTrue(self.outcome([0], [0.25], atol=0.25).ok)
        self.assertFalse(self.outcome([0], [0.25], rtol=0.5).ok)
        self.assertTrue(self.outcome([100, 1], [100, 2], stol=0.01).ok)
        self.assertFalse(self.outcome([100, 1], [100, 2], stol=0.009).ok)
        self.assertEqual(self.outcome([100, 1], [100, 2]).max_scaled, 0.01)
        within = self.outcome([100], [101], rtol=0.01)
        self.assertFalse(within.identical)

    def test_nan_and_infinity_are_never_within(self):
        for expected, got in [(1, math.nan), (math.nan, 1), (1, math.inf),
                              (math.inf, 1), (math.inf, -math.inf)]:
            outcome = self.outcome([expected], [got], rtol=1e9, atol=1e9,
                                   stol=1e9)
            self.assertFalse(outcome.ok, (expected, got))
            self.assertEqual(outcome.max_absolute, math.inf)

    def test_other_count(self):
        outcome = self.outcome([1, 2], [1], rtol=1, atol=1)
        self.assertFalse(outcome.ok)
        self.assertIn("1 values instead of 2", outcome.problems[0])

    def test_other_names(self):
        one, two = array("d", [1]), array("d", [2])
        for got in ({"B": one}, {}, {"A": one, "B": two}):
            self.assertFalse(dumps.compare({"A": one}, got).ok)
        swapped = dumps.compare({"A": one, "B": one}, {"B": one, "A": one})
        self.assertFalse(swapped.ok)


class Script(unittest.TestCase):

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def run_script(self, reference, result, *options):
        paths = []
        for name, text in (("reference", reference), ("result", result)):
            path = Path(self.folder.name) / name
            path.write_text(text)
            paths.append(str(path))
        output = io.StringIO()
        with contextlib.redirect_stdout(output), \
                contextlib.redirect_stderr(output):
            status = compare.main([*options, *paths])
        return status, output.getvalue()

    def test_status(self):
        self.assertEqual(self.run_script(MARKED, MARKED)[0], 0)
        other = MARKED.replace("2.50", "2.51")
        status, output = self.run_script(MARKED, other)
        self.assertEqual(status, 1)
        self.assertIn("largest relative error 0.004 at x[1]", output)
        within = self.run_script(MARKED, other, "--rtol", "0.01")
        self.assertEqual(within[0], 0)
        self.assertEqual(self.run_script(MARKED, "")[0], 2)

    def test_json(self):
        other = MARKED.replace("2.50", "2.51")
        report = json.loads(self.run_script(MARKED, other, "--json")[1])
        self.assertFalse(report["ok"])
        self.assertEqual(report["differing"], 1)
        self.assertEqual(report["max_absolute_at"], ["x", 1])

    def test_missing_file(self):
        with contextlib.redirect_stderr(io.StringIO()):
            self.assertEqual(compare.main(["/nonexistent", "/nonexistent"]), 2)


@unittest.skipUnless(shutil.which("cc"), "needs a C compiler")
class BinaryDump(unittest.TestCase):
    """common/dump_binary.c, linked with kernels and run."""

    def dump(self, kernel, environment, *flags):
        with tempfile.TemporaryDirectory() as folder:
            program = os.path.join(folder, "program")
            common = POLYBENCH / "common"
            subprocess.run(
                ["cc", "-O1", "-fno-builtin-fprintf", "-DMINI_DATASET",
                 "-DPOLYBENCH_DUMP_ARRAYS", *flags, f"-I{common}",
                 str(POLYBENCH / "kernels" / kernel / f"{kernel}.c"),
                 str(common / "polybench.c"), str(common / "dump_binary.c"),
                 "-Wl,--wrap=fprintf", "-o", program, "-lm"], check=True)
            path = os.path.join(folder, "dump")
            environment = {name: value.replace("%t", path)
                           for name, value in environment.items()}
            run = subprocess.run([program], env=environment, check=True,
                                 stderr=subprocess.PIPE)
            return (dumps.read(path) if os.path.exists(path) else None,
                    run.stderr)

    def test_equals_exact_text(self):
        for kernel in ("fdtd-2d", "trisolv", "nussinov"):
            exact = dumps.parse(self.dump(kernel, {},
                                          "-DPOLYBENCH_DUMP_EXACT")[1])
            arrays, text = self.dump(kernel, {"PB_DUMP_FILE": "%t"})
            self.assertEqual(text, b"")
            self.assertEqual(arrays, exact)
            self.assertEqual(list(arrays), list(exact))

    def test_dropped(self):
        self.assertEqual(self.dump("gemm", {"PB_DUMP_FILE": ""}), (None, b""))


if __name__ == "__main__":
    unittest.main()

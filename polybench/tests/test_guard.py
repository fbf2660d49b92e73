"""What polybench/guard.py says of two programs whose times are known."""

import contextlib
import csv
import io
import json
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from support import POLYBENCH  # noqa: F401 (puts the script in the path)

sys.path.insert(0, str(POLYBENCH))
import guard  # noqa: E402

# Runs after the first take 2 us.
PROGRAM = """#!/bin/sh
echo "pacc: using a device (132 multiprocessors)" >&2
echo 0.00000{first}; echo 0.000002; echo 0.000002
"""


def run(folder, *arguments):
    """(exit status, rows, what was said)"""
    out = Path(folder) / "guard.csv"
    said = io.StringIO()
    with mock.patch.object(sys, "argv", ["guard.py", str(folder), "--out",
                                         str(out), *arguments]), \
            contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        status = guard.main()
    rows = []
    if out.exists():
        with open(out, newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
    return status, rows, said.getvalue()


def bundle(folder, **firsts):
    """A folder with a program for each configuration, whose first run takes so
    many microseconds."""
    jobs = []
    for config, first in firsts.items():
        path = Path(folder) / config
        path.write_text(PROGRAM.format(first=first))
        path.chmod(0o755)
        jobs.append({"kernel": "k", "dataset": "MINI", "environment": {},
                     "config": {"chosen": "auto@auto"}.get(config, config),
                     "program": {"path": config, "error": ""}})
    (Path(folder) / "manifest.json").write_text(json.dumps(
        {"commit": "0", "llvm": "22", "jobs": jobs}))


class Guard(unittest.TestCase):
    def test_ratio_counts_the_first_run_and_warm_ratio_does_not(self):
        with tempfile.TemporaryDirectory() as folder:
            bundle(folder, seq=2, chosen=8)
            path = Path(folder) / "summary.csv"
            status, rows, said = run(folder, "--summary", str(path))
            with open(path, newline="", encoding="utf-8") as file:
                summary, = csv.DictReader(file)
        self.assertEqual(status, 0)
        self.assertEqual(len(rows), 1)
        self.assertEqual((summary["dataset"], summary["within"],
                          summary["added_us"], summary["of"]),
                         ("MINI", "0", "2.0", "k"))
        self.assertEqual((rows[0]["ratio"], rows[0]["warm_ratio"],
                          rows[0]["noise"], rows[0]["device"]),
                         ("2.000", "1.000", "1.000", "used"))
        self.assertEqual(rows[0]["cuda_process_s"], "")
        self.assertIn("largest ratio 2.000: k MINI", said)

    def test_a_folder_without_both_programs(self):
        with tempfile.TemporaryDirectory() as folder:
            bundle(folder, seq=2)
            status, rows, said = run(folder)
        self.assertEqual((status, rows), (2, []))
        self.assertIn("nothing was built", said)


if __name__ == "__main__":
    unittest.main()

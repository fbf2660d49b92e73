#!/usr/bin/env python3
"""Puts tables of results into Markdown files, from committed CSV files.

    tools/docs/gen_tables.py [--check] [--root DIR] [FILE.md ...]

A table stands between two comments; the first names the CSV file, the columns
(`column` or `column as heading`) and, if not all rows are wanted, the values
that columns must have:

    <!-- csv:begin polybench/results/x.csv | kernel, time_ms as time (ms) | dataset=LARGE -->
    <!-- csv:end -->

With --check nothing is written, and the status is 1 if a file is out of date.
"""

import argparse
import csv
import re
import sys
from pathlib import Path

import sections

MARKED = re.compile(r"(<!-- csv:begin ([^>]*?) -->\n).*?(<!-- csv:end -->)", re.S)


def make_table(root, request):
    """The table for what a csv:begin comment asks."""
    name, columns, *conditions = [part.strip() for part in request.split("|")]
    with open(root / name, newline="") as file:
        rows = list(csv.DictReader(file))
    wanted = [re.split(r"\s+as\s+", c.strip(), maxsplit=1) for c in columns.split(",")]
    tests = [c.strip().split("=", 1) for c in ",".join(conditions).split(",") if c.strip()]
    for column in [w[0] for w in wanted] + [t[0] for t in tests]:
        if not rows or column not in rows[0]:
            raise SystemExit(f"{name}: there is no column '{column}', or no row")
    chosen = [r for r in rows if all(r[key] == value for key, value in tests)]
    if not chosen:
        raise SystemExit(f"{name}: no row has {', '.join(conditions)}")
    return sections.table([w[-1] for w in wanted], [[r[w[0]] for w in wanted] for r in chosen])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parents[2])
    parser.add_argument("files", nargs="*", help="default: README.md and docs/*.md")
    options = parser.parse_args()
    root = options.root
    names = options.files or ["README.md"] + sorted(
        str(p.relative_to(root)) for p in (root / "docs").glob("*.md")
    )
    contents = {
        name: MARKED.sub(
            lambda match: match[1] + make_table(root, match[2]) + match[3],
            (root / name).read_text(),
        )
        for name in names
    }
    return sections.update(root, contents, options.check, "tools/docs/gen_tables.py")


if __name__ == "__main__":
    sys.exit(main())

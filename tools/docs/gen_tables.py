#!/usr/bin/env python3
"""Puts tables of results into Markdown files, from committed CSV files.

    tools/docs/gen_tables.py [--check] [--root DIR] [FILE.md ...]

A table stands between two comments; the first names the CSV file, the columns
(`column` or `column as heading`) and, if not all rows are wanted, the values
that columns must have:

    <!-- csv:begin polybench/results/x.csv | kernel, time_ms as time (ms) | dataset=LARGE -->
    <!-- csv:end -->

A value `A/B` is one of both, and `column!=value` is all others. A number in a
sentence is the count of a column's different values (`*`: of rows), or the
geometric mean of a column:

    <!-- csv:count polybench/results/x.csv | kernel | dataset=LARGE -->30<!-- csv:end -->
    <!-- csv:mean polybench/results/x.csv | speedup | config=auto -->12.3<!-- csv:end -->

Files of the benchmark's runner have the columns of polybench/runner/derived.py
too.

With --check nothing is written, and the status is 1 if a file is out of date.
"""

import argparse
import csv
import re
import sys
from pathlib import Path

import sections

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "polybench"))
from runner import derived, store  # noqa: E402

MARKED = re.compile(r"(<!-- csv:begin ([^>]*?) -->\n).*?(<!-- csv:end -->)", re.S)
NUMBER = re.compile(r"(<!-- csv:(count|mean) ([^>]*?) -->)[\d.]*(<!-- csv:end -->)")


def chosen_rows(root, name, columns, conditions):
    """The rows of a CSV file that fulfil `column=value` and `column!=value`."""
    with open(root / name, newline="") as file:
        rows = list(csv.DictReader(file))
    if rows and set(store.KEY) < set(rows[0]):
        derived.add(rows)
    elif rows and "variant" in rows[0]:
        derived.add_dynpar(rows)
    tests = [
        (*c.strip().replace("!=", "=").split("=", 1), "!=" not in c)
        for c in ",".join(conditions).split(",")
        if c.strip()
    ]
    for column in columns + [t[0] for t in tests]:
        if not rows or column not in rows[0]:
            raise SystemExit(f"{name}: there is no column '{column}', or no row")
    return [
        r for r in rows if all((r[key] in value.split("/")) == equal for key, value, equal in tests)
    ]


def make_table(root, request):
    """The table for what a csv:begin comment asks."""
    name, columns, *conditions = [part.strip() for part in request.split("|")]
    wanted = [re.split(r"\s+as\s+", c.strip(), maxsplit=1) for c in columns.split(",")]
    rows = chosen_rows(root, name, [w[0] for w in wanted], conditions)
    if not rows:
        raise SystemExit(f"{name}: no row has {', '.join(conditions)}")
    return sections.table([w[-1] for w in wanted], [[r[w[0]] for w in wanted] for r in rows])


def make_number(root, kind, request):
    """The number for what a csv:count or csv:mean comment asks."""
    name, column, *conditions = [part.strip() for part in request.split("|")]
    rows = chosen_rows(root, name, [] if column == "*" else [column], conditions)
    if kind == "mean":
        return derived.geometric_mean(r[column] for r in rows)
    return str(len(rows if column == "*" else {r[column] for r in rows}))


def fill(root, text):
    """The text with all its tables and numbers made anew."""
    text = MARKED.sub(lambda m: m[1] + make_table(root, m[2]) + m[3], text)
    return NUMBER.sub(lambda m: m[1] + make_number(root, m[2], m[3]) + m[4], text)


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
    contents = {name: fill(root, (root / name).read_text()) for name in names}
    return sections.update(root, contents, options.check, "tools/docs/gen_tables.py")


if __name__ == "__main__":
    sys.exit(main())

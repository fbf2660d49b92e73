#!/usr/bin/env python3
"""Draws the figures of results files, as PNG and SVG.

    plot.py results/runs/*.csv --out results/plots

Needs pandas and matplotlib (pip install pandas matplotlib); nothing but the
results files is read.
"""

import argparse
import sys
from pathlib import Path

FIGURES = ("speedup", "blocks", "sweep", "roofline", "launches",
           "aggregation")


def main(arguments=None):
    parser = argparse.ArgumentParser(
        description="Draws the figures of results files, as PNG and SVG.")
    parser.add_argument("results", nargs="+", type=Path, metavar="CSV")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR")
    parser.add_argument("--figures", default=",".join(FIGURES), metavar="A,B",
                        help="of " + ", ".join(FIGURES) + "; default: all that "
                        "the results have something for")
    options = parser.parse_args(arguments)
    names = options.figures.split(",")
    for name in names:
        if name not in FIGURES:
            parser.error(f"'{name}' is no figure: {', '.join(FIGURES)}")
    try:
        import importlib

        from plots import results, style
    except ImportError as error:
        print(f"plot.py: {error}: pip install pandas matplotlib",
              file=sys.stderr)
        return 2
    try:
        rows = results.load(options.results)
    except (OSError, KeyError, ValueError, results.NoResults) as error:
        print(f"plot.py: {error}", file=sys.stderr)
        return 2
    options.out.mkdir(parents=True, exist_ok=True)
    drawn = 0
    for name in names:
        module = importlib.import_module(f"plots.{name}")
        table = module.data(rows)
        if table.empty:
            print(f"{name}: nothing to show")
            continue
        for path in style.save(module.draw(table, rows), options.out, name):
            print(path)
        drawn += 1
    return 0 if drawn else 1


if __name__ == "__main__":
    sys.exit(main())

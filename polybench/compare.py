#!/usr/bin/env python3
"""Compares the arrays that two runs of a PolyBench program dumped.

    compare.py reference.txt result.txt
    compare.py --rtol 1e-12 reference.txt result.txt

The files hold what the programs wrote to stderr when built with
-DPOLYBENCH_DUMP_ARRAYS. The comparison fails on other array names, another
count of values and values outside the tolerance (by default: any difference).

Exit status: 0 equal within the tolerance, 1 not, 2 a file cannot be read.
"""

import argparse
import json
import sys

from runner import dumps


def _place(place):
    return f" at {place[0]}[{place[1]}]" if place else ""


def report(outcome):
    """The lines that describe a dumps.Comparison to a reader."""
    lines = list(outcome.problems)
    lines.append(f"{outcome.values} values, {outcome.differing} differ, "
                 f"{outcome.outside} outside the tolerance")
    if outcome.differing:
        lines.append(f"largest relative error {outcome.max_relative:.3g}" +
                     _place(outcome.max_relative_at))
        lines.append(f"largest absolute error {outcome.max_absolute:.3g}" +
                     _place(outcome.max_absolute_at))
        lines.append("largest error against the array's largest value "
                     f"{outcome.max_scaled:.3g}")
    return lines


def main(arguments=None):
    parser = argparse.ArgumentParser(
        description="Compares the arrays that two PolyBench runs dumped.",
        epilog="Exit status: 0 equal within the tolerance, 1 not, 2 a file "
        "cannot be read.")
    parser.add_argument("reference")
    parser.add_argument("result")
    parser.add_argument("--rtol", type=float, default=0.0, metavar="R",
                        help="allow |difference| <= R * |reference|")
    parser.add_argument("--atol", type=float, default=0.0, metavar="A",
                        help="allow |difference| <= A")
    parser.add_argument("--stol", type=float, default=0.0, metavar="S",
                        help="allow |difference| <= S * largest |reference| of "
                        "the array")
    parser.add_argument("--json", action="store_true",
                        help="print one JSON object")
    parser.add_argument("-q", "--quiet", action="store_true",
                        help="print nothing, only set the exit status")
    options = parser.parse_args(arguments)
    for tolerance in (options.rtol, options.atol, options.stol):
        if not tolerance >= 0.0:
            parser.error("a tolerance is a number that is not negative")

    try:
        outcome = dumps.compare(dumps.read(options.reference),
                                dumps.read(options.result),
                                dumps.Tolerance(options.rtol, options.atol,
                                                options.stol))
    except (OSError, dumps.DumpError) as error:
        print(f"compare.py: {error}", file=sys.stderr)
        return 2
    if options.json:
        print(json.dumps({"ok": outcome.ok, "identical": outcome.identical,
                          **vars(outcome)}))
    elif not options.quiet:
        print("\n".join(report(outcome)))
    return 0 if outcome.ok else 1


if __name__ == "__main__":
    sys.exit(main())

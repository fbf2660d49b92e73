"""pacc-report: the thread blocks that a compile decided on, and why.

Compile with -fsave-optimization-record, then

    pacc-report gemm.opt.yaml
    pacc-report gemm.opt.yaml --html report.html --results sweep.csv
"""

import argparse
import csv
import sys
from collections import defaultdict

import pacc_record as record
import pacc_report_html as html


def read_results(path):
    """{kernel: {shape: microseconds}} of a file that PACC_SWEEP or
    `sweep.py evaluate --shapes` wrote: all launches together."""
    found = defaultdict(lambda: defaultdict(float))
    with open(path, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if not {"kernel", "block", "us"} <= set(row):
                raise record.RecordError(f"{path} has no columns kernel, block "
                                         "and us: it is no file of a sweep")
            if row["us"]:
                found[row["kernel"]][record.shape(row["block"])] += \
                    float(row["us"]) * int(row.get("launches") or 1)
    return {kernel: dict(times) for kernel, times in found.items()}


def _columns(kernel, measured):
    best = kernel.candidates[0] if kernel.candidates else None
    second = next((one for one in kernel.candidates
                   if one.shape != kernel.block), None)
    cells = [kernel.name, record.shape_text(kernel.block), kernel.reason,
             f"{kernel.time:.4g}" if kernel.time is not None else "-",
             kernel.bound or "-",
             f"{second.terms['time']:.4g} {record.shape_text(second.shape)}"
             if second else "-",
             f"{best.warps}/{best.max_warps} {best.limit}" if best else "-",
             kernel.registers or "-"]
    if measured is not None:
        times = measured.get(kernel.name, {})
        ratio = times[kernel.block] / min(times.values()) \
            if kernel.block in times else None
        cells.append(f"{ratio:.3f}" if ratio else "-")
    return cells


def table(kernels, measured=None):
    """Lines of text."""
    head = ["kernel", "block", "chosen by", "us", "bound by", "next", "warps",
            "registers"]
    if measured is not None:
        head.append("measured/best")
    rows = [head] + [_columns(kernel, measured) for kernel in kernels]
    widths = [max(len(row[i]) for row in rows) for i in range(len(head))]
    return ["  ".join(cell.ljust(width)
                      for cell, width in zip(row, widths)).rstrip()
            for row in rows]


def _parser():
    parser = argparse.ArgumentParser(prog="pacc-report", description="Shows "
                                     "which thread blocks a compile decided "
                                     "on, and why.")
    parser.add_argument("records", nargs="+", metavar="FILE",
                        help="what clang -fsave-optimization-record wrote")
    parser.add_argument("--html", metavar="FILE",
                        help="write a page with all candidates of each kernel")
    parser.add_argument("--results", metavar="CSV",
                        help="times of a sweep (PACC_SWEEP), to compare with")
    return parser


def main(arguments=None):
    options = _parser().parse_args(arguments)
    try:
        kernels = [kernel for path in options.records
                   for kernel in record.read(path)]
        measured = read_results(options.results) if options.results else None
        if not kernels:
            raise record.RecordError("no kernels in " +
                                     ", ".join(options.records) +
                                     ": nothing was offloaded there")
        print("\n".join(table(kernels, measured)))
        if options.html:
            with open(options.html, "w", encoding="utf-8") as file:
                file.write(html.page(kernels, measured or {}))
    except (OSError, ValueError, KeyError, record.RecordError) as error:
        print(f"pacc-report: {error}", file=sys.stderr)
        return 1
    return 0

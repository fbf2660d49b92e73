"""Programs that compare their results themselves, and print what came of it.

A reader takes a program's output: the columns of a results row that it fills.
"""

import csv
import re


class NoResult(Exception):
    """Output that says neither right nor wrong."""


def dynpar(output):
    """The programs of dynpar/: `program,variant,size,graph,median ms,least
    ms,ok|wrong`. A first run that is not timed warms up."""
    rows = [row for row in csv.reader(output.splitlines())
            if len(row) == 7 and row[6] in ("ok", "wrong")]
    if len(rows) != 1:
        raise NoResult("printed no result")
    median, least, status = rows[0][4:]
    if status != "ok":
        return {"status": "wrong", "message": "differs from the CPU's result"}
    return {"status": "ok", "warm_median_s": f"{float(median) / 1000:.7f}",
            "warm_min_s": f"{float(least) / 1000:.7f}"}


def polybench_acc(output):
    """The CUDA programs of PolyBench-ACC, built with RUN_ON_CPU: the time of
    the kernels alone, and values more than so many percent away."""
    seconds = re.search(r"GPU Time in seconds:\s*([\d.]+)", output)
    wrong = re.search(r"Error Threshold of ([\d.]+) Percent: (\d+)", output)
    if not seconds or not wrong:
        raise NoResult("printed no result")
    if int(wrong.group(2)):
        return {"status": "wrong", "message":
                f"{wrong.group(2)} values are off by more than "
                f"{wrong.group(1)}%"}
    return {"status": "ok", "runs": 1,
            "kernel_ms": f"{float(seconds.group(1)) * 1000:.6f}"}


READERS = {"dynpar": dynpar, "polybench-acc": polybench_acc}

"""What follows from the rows of a results file: columns for tables.

    time_ms    one run, end to end, warm where there is a warm one
    CONFIG_ms  the same in any other configuration that the file has: seq_ms is
               that of the original loops on one core
    speedup    seq_ms / time_ms
    device_ms  time of its kernels on the device
    cold_ms    the first run in a process: the device is opened, code is loaded
    gflops     10^9 operations per second of device time
    gbs        10^9 bytes of the least traffic per second of device time
    bound_ms   the shortest time in which the device could do the work
    percent    bound_ms of the device time
    error      the largest error, as a share of the array's largest value

A column is empty where a row has nothing to make it from: wrong results have no
times, and a file without the device's rates has no bounds. Where a row's kernel ran
its original loops, it has times only if that was for the runtime to choose
(`@auto`).

In results of dynpar/dynpar.py:

    over_plain  how many times as fast as the same launches made one by one
"""

import math

from . import metrics


def _number(row, name):
    return float(row[name]) if row.get(name) else None


def seconds(row):
    """A row's time end to end, or None."""
    return _number(row, "warm_median_s") or _number(row, "cold_s")


def _right(row):
    """Whether a row's results are right, from where its configuration wants
    them."""
    return row["status"] == "ok" or (row["status"] == "host" and
                                     row["config"].endswith("@auto"))


def _rates(rows):
    """{type: {"flops": operations/s, "bandwidth": bytes/s}} of the device."""
    bandwidth, flops = None, {}
    for row in rows:
        if row["suite"] != "device":
            continue
        if row["kernel"] == "copy":
            bandwidth = float(row["traffic"]) / seconds(row)
        else:
            flops[row["type"]] = float(row["operations"]) / seconds(row)
    return {kind: {"flops": rate, "bandwidth": bandwidth}
            for kind, rate in flops.items() if bandwidth}


def _digits(value):
    """Three significant digits, never as a power of ten; "" for nothing."""
    if not value:
        return ""
    digits = 2 - math.floor(math.log10(abs(value)))
    return f"{value:.{max(digits, 0)}f}"


def geometric_mean(values):
    """Of text as add() writes it; empty cells do not count."""
    logarithms = [math.log(float(value)) for value in values if value]
    return _digits(math.exp(sum(logarithms) / len(logarithms))
                   if logarithms else None)


def add(rows):
    """Adds these columns, as text, to the rows of a results file."""
    rates = _rates(rows)

    def job(row):
        return tuple(row[name] for name in ("suite", "kernel", "dataset",
                                            "type"))

    times = {(job(row), row["config"]): seconds(row) for row in rows
             if _right(row)}
    configs = {row["config"] for row in rows}
    for row in rows:
        good = _right(row)
        time = seconds(row) if good else None
        original = times.get((job(row), "seq"))
        device = (_number(row, "kernel_ms") or 0) / 1000 if good else 0
        operations, traffic = _number(row, "operations"), \
            _number(row, "traffic")
        rate = rates.get(row["type"], rates.get("float"))
        bound = metrics.bound_seconds(operations, traffic, rate) \
            if rate and operations and traffic else None
        others = {f"{config}_ms": 1000 * (times.get((job(row), config)) or 0)
                  for config in configs | {"seq"}}
        row.update({name: _digits(value) for name, value in {
            **others,
            "time_ms": time and 1000 * time,
            "speedup": time and original and original / time,
            "device_ms": 1000 * device,
            "cold_ms": good and 1000 * (_number(row, "cold_s") or 0),
            "gflops": operations and device and operations / device / 1e9,
            "gbs": traffic and device and traffic / device / 1e9,
            "bound_ms": bound and 1000 * bound,
            "percent": bound and device and 100 * bound / device,
        }.items()})
        row["error"] = f"{float(row['max_scaled']):.1g}" \
            if row.get("max_scaled") else ""


def add_dynpar(rows):
    """Adds over_plain to the rows of a file that dynpar.py wrote."""
    def case(row):
        return tuple(row[name] for name in ("program", "size", "graph"))

    right = [row for row in rows if row["result"] == "ok" and row["median_ms"]]
    plain = {case(row): float(row["median_ms"]) for row in right
             if row["variant"] == "plain"}
    for row in rows:
        row["over_plain"] = ""
    for row in right:
        if case(row) in plain:
            row["over_plain"] = _digits(plain[case(row)] /
                                        float(row["median_ms"]))

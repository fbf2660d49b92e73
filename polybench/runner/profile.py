"""Reads the host runtime's profile of a run (PACC_PROFILE_CSV)."""

import csv
from collections import Counter, defaultdict
from dataclasses import dataclass


@dataclass
class Profile:
    """What one run of a kernel did on the device. Times in milliseconds.

    regions, fallbacks  regions that ran there, and those that ran the
                        original loops instead
    launches            kernels started
    kernel, copy_in, copy_out   time on the device
    write_back          time in which the host wrote results to the arrays
    region              wall time from regions' begin to their end
    bytes_in, bytes_out bytes moved
    blocks              shapes of thread blocks, "32x8x1;64x1x1", most used
                        first
    """
    regions: int = 0
    fallbacks: int = 0
    launches: int = 0
    kernel: float = 0.0
    copy_in: float = 0.0
    copy_out: float = 0.0
    write_back: float = 0.0
    region: float = 0.0
    bytes_in: int = 0
    bytes_out: int = 0
    blocks: str = ""


def _last_run(regions, runs):
    """Of several equal runs in one process, the regions of the last one."""
    total = Counter(row["name"] for row in regions)
    seen = Counter()
    last = []
    for row in regions:
        name = row["name"]
        seen[name] += 1
        if seen[name] > total[name] - total[name] // runs:
            last.append(row)
    return last


def read(path, runs=1):
    """The profile of the last of `runs` runs. Regions of functions kernel_*
    count; if there are none, all regions do."""
    with open(path, newline="", encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    regions = [row for row in rows if row["kind"] == "region"]
    kernels = [row for row in regions if row["name"].startswith("kernel_")]
    regions = _last_run(kernels or regions, runs)

    intervals = defaultdict(list)
    for row in regions:
        start = float(row["start_us"])
        intervals[row["thread"]].append(
            (start, start + float(row["duration_us"])))
    result = Profile()
    blocks = Counter()
    for row in rows:
        # A device operation belongs to the region that its host thread was in.
        start = float(row["start_us"])
        if not any(begin <= start <= end
                   for begin, end in intervals[row["thread"]]):
            continue
        duration = float(row["duration_us"]) / 1000
        size = int(row["bytes"])
        kind = row["kind"]
        if kind == "kernel":
            result.launches += 1
            result.kernel += duration
            blocks[row["block"]] += 1
        elif kind == "copy-in":
            result.copy_in += duration
            result.bytes_in += size
        elif kind == "copy-out":
            result.copy_out += duration
            result.bytes_out += size
        elif kind == "write-back":
            result.write_back += duration
    for row in regions:
        if row["status"] == "ok":
            result.regions += 1
        else:
            result.fallbacks += 1
        result.region += float(row["duration_us"]) / 1000
    result.blocks = ";".join(block for block, _ in blocks.most_common())
    return result

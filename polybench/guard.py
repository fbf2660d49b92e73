#!/usr/bin/env python3
"""Is a program ever slower because it asks whether a GPU is worth it?

    run.py build --datasets MINI,SMALL,MEDIUM --configs seq,auto@auto --out DIR
    guard.py DIR --out FILE

Runs the original loops (`seq`), the program that chooses (`auto@auto`) and, if
it was built, the one that insists (`auto`) by turns, several processes of
several runs each. A row per kernel and dataset: microseconds of a run, the first
one counted, and seconds of a process, in the fastest process of each; how much
longer the program that chooses takes than the original (`ratio`); the same of
the original's processes among each other (`noise`); and of later runs alone
(`warm_ratio`). Needs Python's standard library only.
"""

import argparse
import csv
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

ORIGINAL, CHOOSING, INSISTING = CONFIGS = ("seq", "auto@auto", "auto")


class GuardError(Exception):
    """A folder that can't be measured, or a program that fails."""


def jobs_of(manifest, kernels, datasets):
    """{(dataset, kernel): {configuration: job}} where seq and auto@auto were
    built; of these kernels and datasets, if not None."""
    found = {}
    for job in manifest["jobs"]:
        if job["config"] in CONFIGS and not job["program"]["error"] and \
                job["kernel"] in (kernels or [job["kernel"]]) and \
                job["dataset"] in (datasets or [job["dataset"]]):
            key = (job["dataset"], job["kernel"])
            found.setdefault(key, {})[job["config"]] = job
    return {key: jobs for key, jobs in sorted(found.items())
            if ORIGINAL in jobs and CHOOSING in jobs}


class Series:
    """The processes of one program."""

    def __init__(self, folder, job, options):
        self.path = Path(folder) / job["program"]["path"]
        self.name = f"{job['kernel']} {job['dataset']} {job['config']}"
        self.environment = {
            name: value for name, value in os.environ.items()
            if not name.startswith(("PACC_", "PB_"))}
        self.environment.update(job["environment"], PB_DUMP_FILE="",
                                PB_RUNS=str(options.runs),
                                PB_SECONDS=str(options.seconds))
        self.timeout = options.timeout
        self.runs = []     # seconds of each, by process
        self.seconds = []  # of each process

    def call(self, **more):
        """(seconds of each run, what it said) of one process."""
        done = subprocess.run([self.path], env={**self.environment, **more},
                              capture_output=True, text=True,
                              timeout=self.timeout, check=False)
        times = [float(line) for line in done.stdout.split()]
        if done.returncode or not times:
            raise GuardError(f"{self.name}: status {done.returncode}, "
                             f"{len(times)} times")
        return times, done.stderr

    def measure(self):
        start = time.monotonic()
        self.runs.append(self.call()[0])
        self.seconds.append(time.monotonic() - start)

    def mean(self, count, processes=slice(None)):
        """Microseconds of one of the first `count` runs."""
        return 1e6 * min(statistics.mean(times[:count])
                         for times in self.runs[processes])

    def warm(self):
        return 1e6 * min(statistics.median(times[1:]) for times in self.runs)


def measure(folder, key, jobs, options):
    """The row of a kernel."""
    series = {config: Series(folder, jobs[config], options)
              for config in CONFIGS if config in jobs}
    for _ in range(options.processes):
        for one in series.values():
            one.measure()
    seq, choosing = series[ORIGINAL], series[CHOOSING]
    # Where time was up after other numbers of runs, the first ones count.
    runs = min(len(times) for one in (seq, choosing) for times in one.runs)
    noise = [seq.mean(runs, slice(half, None, 2)) for half in (0, 1)]
    _, said = choosing.call(PACC_LOG="info")
    row = {"kernel": key[1], "dataset": key[0], "runs": runs,
           "processes": options.processes,
           "device": "used" if "multiprocessors" in said else "not opened",
           "seq_us": f"{seq.mean(runs):.2f}",
           "auto_us": f"{choosing.mean(runs):.2f}",
           "ratio": f"{choosing.mean(runs) / seq.mean(runs):.3f}",
           "noise": f"{max(noise) / min(noise):.3f}",
           "warm_ratio": f"{choosing.warm() / seq.warm():.3f}"
           if runs > 1 else ""}
    for config, name in zip(CONFIGS, ("seq", "auto", "cuda")):
        row[f"{name}_process_s"] = f"{min(series[config].seconds):.4f}" \
            if config in series else ""
    return row


def origin(manifest):
    """The columns that say where results come from."""
    try:
        said = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version",
                               "--format=csv,noheader"], capture_output=True,
                              text=True, check=False).stdout
    except FileNotFoundError:
        said = ""
    gpu, _, driver = said.partition("\n")[0].partition(",")
    return {"date": time.strftime("%Y-%m-%d", time.gmtime()),
            "commit": manifest["commit"], "llvm": manifest["llvm"],
            "gpu": gpu.strip(), "driver": driver.strip()}


def summary(rows):
    """A row per dataset: kernels; how many take no longer than the original by
    more than 5%, in runs (first ones too) and in whole processes; what a run
    takes longer in the median, and at most, with the kernel."""
    found = []
    for dataset in dict.fromkeys(row["dataset"] for row in rows):
        of = [row for row in rows if row["dataset"] == dataset]
        added = sorted((float(row["auto_us"]) - float(row["seq_us"]),
                        row["kernel"]) for row in of)
        process = [float(row["auto_process_s"]) / float(row["seq_process_s"])
                   for row in of]
        found.append({
            "dataset": dataset, "kernels": len(of),
            "within": sum(float(row["ratio"]) <= 1.05 for row in of),
            "processes_within": sum(one <= 1.05 for one in process),
            "largest_process_ratio": f"{max(process):.3f}",
            "added_us": f"{added[len(added) // 2][0]:.1f}",
            "largest_added_us": f"{added[-1][0]:.1f}", "of": added[-1][1]})
    return found


def write(path, rows):
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def write_all(options):
    """Measures, and writes each row when it is there."""
    if options.processes < 2:
        raise GuardError("--processes: at least 2")
    manifest = json.loads((Path(options.folder) / "manifest.json").read_text())
    found = jobs_of(manifest, options.kernels, options.datasets)
    if not found:
        raise GuardError("nothing was built with both seq and auto@auto")
    where, rows = origin(manifest), []
    for key, jobs in found.items():
        rows.append({**where, **measure(options.folder, key, jobs, options)})
        print(*list(rows[-1].values())[len(where):], flush=True)
        write(options.out, rows)
    if options.summary:
        write(options.summary, summary(rows))
    worst = max(rows, key=lambda row: float(row["ratio"]))
    print(f"largest ratio {worst['ratio']}: {worst['kernel']} "
          f"{worst['dataset']}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", help="what run.py build made")
    parser.add_argument("--out", required=True, metavar="FILE")
    parser.add_argument("--summary", metavar="FILE",
                        help="a row per dataset")
    for name in ("kernels", "datasets"):
        parser.add_argument(f"--{name}", type=lambda text: text.split(","),
                            metavar="A,B", help="only these; default: all")
    parser.add_argument("--runs", type=int, default=12, metavar="N",
                        help="runs of a process (12)")
    parser.add_argument("--processes", type=int, default=4, metavar="N",
                        help="processes of each program, at least 2 (4)")
    parser.add_argument("--seconds", type=float, default=0.3, metavar="S",
                        help="after which a process starts no further run (0.3)")
    parser.add_argument("--timeout", type=float, default=60, metavar="S",
                        help="that a process may take (60)")
    options = parser.parse_args()
    try:
        write_all(options)
    except (GuardError, OSError, subprocess.TimeoutExpired) as error:
        print(f"guard.py: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())

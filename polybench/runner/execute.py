"""Runs the programs of a manifest, checks their results, and stores a row for
each job."""

import os
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

from . import (dumps, machine, processes, profile, progress, selfcheck,
               store)

# Where results need not be exact, an error up to this share of the array's
# largest value is rounding; integers are exact.
SCALED_TOLERANCE = {"double": 1e-8, "float": 1e-3}


@dataclass
class Options:
    """runs       timed runs after the cold one
    timeout    seconds that a process may take
    budget     seconds after which no further timed run is started
    tolerance  replaces SCALED_TOLERANCE; None keeps it
    references jobs that are references run first, so many at a time
    """
    runs: int = 5
    timeout: float = 300.0
    budget: float = 60.0
    tolerance: float = None
    references: int = 1


class RunError(Exception):
    """A program that failed. `status` is for the results file."""

    def __init__(self, status, message):
        super().__init__(message)
        self.status = status


def _last_line(data):
    lines = data.decode("utf-8", "replace").strip().splitlines()
    return lines[-1][:300] if lines else ""


def _message(text):
    """A message as one line, with files' names instead of their paths: results
    are published."""
    return re.sub(r"(?<![\w.])/(?:[\w.+@-]+/)+", "", " ".join(text.split()))


def _times(output):
    """The seconds that a program printed, one number a line."""
    times = []
    for line in output.decode("utf-8", "replace").splitlines():
        try:
            times.append(float(line))
        except ValueError:
            continue
    if not times:
        raise RunError("failed", "printed no time")
    return times


def _statistics(times, warm):
    """The time columns of a row. `warm`: all runs after the first are in the
    same process, or no run has anything to warm up."""
    row = {"runs": len(times), "cold_s": f"{times[0]:.6f}",
           "times_s": ";".join(f"{t:.6f}" for t in times)}
    later = times[1:]
    if warm and later:
        median = statistics.median(later)
        row.update(warm_median_s=f"{median:.6f}",
                   warm_min_s=f"{min(later):.6f}",
                   warm_max_s=f"{max(later):.6f}")
        if median > 0:
            row["spread"] = f"{(max(later) - min(later)) / median:.4f}"
    return row


def _is_reference(job):
    """Whether a job runs what results are compared with."""
    return job["program"] == job.get("reference") and not job["environment"]


class Runner:
    """Runs a manifest's jobs. `folder` holds the programs; `results` is a
    store.Store; references go to folder/reference and are kept."""

    def __init__(self, manifest, folder, results, options):
        self.manifest = manifest
        self.folder = Path(folder)
        self.results = results
        self.options = options
        self.references = self.folder / "reference"
        self.references.mkdir(exist_ok=True)
        self._processes = processes.Processes()
        self._lock = threading.Lock()

    def _call(self, program, environment, arguments=(), accepted=(0,)):
        """Runs one of the manifest's programs: (stdout, stderr). Raises
        RunError if it is killed, takes too long, or ends with another status
        than the accepted ones."""
        inherited = {name: value for name, value in os.environ.items()
                     if not name.startswith(("PACC_", "PB_"))}
        timeout = self.options.timeout
        try:
            status, output, errors = self._processes.run(
                [self.folder / program["path"], *arguments],
                {**inherited, **environment}, timeout)
        except subprocess.TimeoutExpired:
            raise RunError("timeout",
                           f"took more than {timeout:g} seconds") from None
        except OSError as error:
            raise RunError("failed", f"does not start: {error}") from None
        if status < 0:
            raise RunError("failed", f"killed by signal {-status}: "
                           f"{_last_line(errors)}")
        if status not in accepted:
            raise RunError("failed", f"exit status {status}: "
                           f"{_last_line(errors)}")
        return output, errors

    def key(self, job):
        """The job's store key."""
        return store.key(self._head(job))

    def _head(self, job):
        return {"suite": self.manifest["suite"], "kernel": job["kernel"],
                "dataset": job["dataset"], "type": job["type"],
                "config": job["config"], "program": job["program"]["sha256"]}

    def _reference_path(self, job):
        return self.references / f"{job['reference']['sha256']}.dump"

    def _reference(self, job, folder):
        """The arrays that the original loops give."""
        program = job["reference"]
        if program["error"]:
            raise RunError("failed", f"no reference: {program['error']}")
        path = self._reference_path(job)
        if not path.exists():
            # Under another name first, so that a cut-off file is not used.
            partial = folder / "reference"
            try:
                self._call(program, {"PB_DUMP_FILE": str(partial)})
            except RunError as error:
                raise RunError("failed",
                               f"no reference: {error}") from None
            partial.rename(path)
        return dumps.read(path)

    def _timed(self, job, dump):
        """(times, stderr) of a job; the arrays of a run go to `dump`."""
        environment = dict(job["environment"])
        count = self.options.runs + 1
        if job["repeats"]:
            environment.update(PB_RUNS=str(count), PB_DUMP_FILE=str(dump),
                               PB_SECONDS=f"{self.options.budget:g}")
            output, errors = self._call(job["program"], environment)
            return _times(output), errors
        times, errors = [], b""
        started = time.monotonic()
        for index in range(count):
            environment["PB_DUMP_FILE"] = "" if index else str(dump)
            output, errors = self._call(job["program"], environment)
            times += _times(output)[:1]
            if time.monotonic() - started > self.options.budget:
                break
        return times, errors

    def _profiled(self, job, path):
        """The device's profile of a job."""
        runs = 2 if job["repeats"] else 1
        self._call(job["program"],
                   {**job["environment"], "PB_RUNS": str(runs),
                    "PB_DUMP_FILE": "", "PACC_PROFILE_CSV": str(path)})
        if not path.exists():
            return profile.Profile()
        return profile.read(path, runs)

    def _tolerance(self, job):
        if job["exact"]:
            return dumps.EXACT
        scaled = self.options.tolerance
        if scaled is None:
            scaled = SCALED_TOLERANCE.get(job["type"], 0.0)
        return dumps.Tolerance(stol=scaled)

    def _self_checked(self, job):
        """The columns that a job fills whose program compares by itself."""
        runs = max(self.options.runs, 1)
        repeat = ["--repeat", str(runs)] if job["check"] == "dynpar" else []
        output, errors = self._call(job["program"], job["environment"],
                                    [*job["arguments"], *repeat], (0, 1))
        try:
            return {"runs": runs, **selfcheck.READERS[job["check"]](
                output.decode("utf-8", "replace"))}
        except selfcheck.NoResult as error:
            raise RunError("failed", _last_line(errors) or str(error)) \
                from None

    def _measure(self, job, folder):
        """The columns that a job's runs fill."""
        if job["program"]["error"]:
            raise RunError("failed", job["program"]["error"])
        if job["check"] != "arrays":
            return self._self_checked(job)
        dump = folder / "dump"
        times, errors = self._timed(job, dump)
        try:
            got = dumps.read(dump)
            if _is_reference(job) and not self._reference_path(job).exists():
                dump.rename(self._reference_path(job))
            outcome = dumps.compare(self._reference(job, folder), got,
                                    self._tolerance(job))
        except (OSError, dumps.DumpError) as error:
            raise RunError("failed", f"no results: {error}") from None
        row = {"values": outcome.values, "differing": outcome.differing,
               "max_absolute": f"{outcome.max_absolute:.6g}",
               "max_relative": f"{outcome.max_relative:.6g}",
               "max_scaled": f"{outcome.max_scaled:.6g}"}
        if not outcome.ok:
            message = "; ".join(outcome.problems) or \
                f"{outcome.outside} values are wrong, the worst at " \
                f"{outcome.max_absolute_at[0]}[{outcome.max_absolute_at[1]}]"
            return {**row, "status": "wrong", "message": message}
        row["status"] = "ok"
        if job["profiled"]:
            seen = self._profiled(job, folder / "profile.csv")
            row.update(regions=seen.regions, fallbacks=seen.fallbacks,
                       launches=seen.launches, bytes_in=seen.bytes_in,
                       bytes_out=seen.bytes_out, blocks=seen.blocks,
                       kernel_ms=f"{seen.kernel:.6f}",
                       copy_in_ms=f"{seen.copy_in:.6f}",
                       copy_out_ms=f"{seen.copy_out:.6f}",
                       write_back_ms=f"{seen.write_back:.6f}",
                       region_ms=f"{seen.region:.6f}")
            if seen.launches == 0:
                row.update(status="host", message="nothing ran on the device" +
                           (f": {_last_line(errors)}" if errors else ""))
        row.update(_statistics(times,
                               job["repeats"] or job["device"] == "host"))
        return row

    def run_job(self, job):
        """Runs a job and stores its row."""
        row = {**self._head(job), "date": machine.today(),
               "operations": job["operations"], "traffic": job["traffic"],
               "compile_s": job["program"]["seconds"]}
        with tempfile.TemporaryDirectory(dir=self.references) as folder:
            try:
                row.update(self._measure(job, Path(folder)))
                if self.options.references > 1 and _is_reference(job):
                    row["message"] = "timed beside others"
            except RunError as error:
                row.update(status=error.status, message=str(error))
        if job["check"] == "arrays":
            row["not_offloaded"] = sum(
                function.startswith("kernel_") for function, *_ in
                job["program"]["not_offloaded"])
        row["message"] = _message(row.get("message", ""))
        with self._lock:
            self.results.add({name: "" if value is None else value
                              for name, value in row.items()})
        return row

    def measure_device(self):
        """Stores what the GPU can do at best, once: a row for each line of
        common/device_rates.cu. Returns what stood in the way, or ""."""
        program = self.manifest.get("rates")
        if program is None or any(key[0] == "device"
                                  for key in self.results.done):
            return ""
        if program["error"]:
            return program["error"]
        try:
            output, _ = self._call(program, {})
        except RunError as error:
            return str(error)
        for line in output.decode().splitlines():
            name, data_type, operations, traffic, *times = line.split()
            # All runs are warm: the program has left the first one out.
            times = [float(time) for time in times]
            row = _statistics([times[0], *times], True)
            self.results.add({
                **row, "runs": len(times), "cold_s": "",
                "times_s": ";".join(f"{time:.9f}" for time in times),
                "date": machine.today(), "suite": "device", "kernel": name,
                "dataset": "", "type": data_type, "config": "rates",
                "program": program["sha256"], "status": "ok",
                "operations": operations, "traffic": traffic})
        return ""

    def _run_together(self, jobs, workers, bar):
        """Runs jobs, `workers` at a time."""
        def work(job):
            bar.show(_title(job))
            return self.run_job(job)

        pool = ThreadPoolExecutor(workers)
        try:
            running = {pool.submit(work, job): job for job in jobs}
            for future in as_completed(running):
                job, row = running[future], future.result()
                bad = row["status"] not in ("ok", "host")
                bar.step(_weight(job), f"{_title(job)}: {row['status']}" +
                         (f": {row['message']}" if row["message"] else ""),
                         bad)
        except BaseException:
            self._processes.stop()
            raise
        finally:
            pool.shutdown(cancel_futures=True)

    def run(self, stream=sys.stderr):
        """Runs all jobs that the results file does not have. Returns the rows
        of all jobs, in the manifest's order."""
        waiting = [job for job in self.manifest["jobs"]
                   if self.key(job) not in self.results.done]
        first = []
        if self.options.references > 1:
            # The longest first, so that none is left to run alone at the end.
            first = sorted(filter(_is_reference, waiting), key=_weight,
                           reverse=True)
        bar = progress.Progress(list(map(_weight, waiting)), stream)
        try:
            self._run_together(first, self.options.references, bar)
            self._run_together([job for job in waiting if job not in first],
                               1, bar)
        finally:
            bar.close()
        return [self.results.done[self.key(job)]
                for job in self.manifest["jobs"]]


def _title(job):
    return f"{job['kernel']} {job['dataset']} {job['config']}"


def _weight(job):
    return 1 + (job["operations"] or 0) * 1e-9


def origin(manifest):
    """The ORIGIN columns of results that this machine has with a manifest's
    programs."""
    return {"commit": manifest["commit"], "llvm": manifest["llvm"],
            "cuda": manifest["cuda"], **machine.describe()}

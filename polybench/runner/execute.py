"""Runs the programs of a manifest, checks their results, and stores a row for
each job."""

import os
import re
import signal
import statistics
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from . import dumps, interrupts, machine, profile, progress, store

# Where results need not be exact, an error up to this share of the array's
# largest value is rounding; integers are exact.
SCALED_TOLERANCE = {"double": 1e-8, "float": 1e-3}


@dataclass
class Options:
    """runs       timed runs after the cold one
    timeout    seconds that a process may take
    budget     seconds after which no further timed run is started
    tolerance  replaces SCALED_TOLERANCE; None keeps it
    """
    runs: int = 5
    timeout: float = 300.0
    budget: float = 60.0
    tolerance: float = None


class RunError(Exception):
    """A program that failed. `status` is for the results file."""

    def __init__(self, status, message):
        super().__init__(message)
        self.status = status


def _last_line(data):
    lines = data.decode("utf-8", "replace").strip().splitlines()
    return lines[-1][:300] if lines else ""


def _call(program, environment, timeout):
    """Runs a program: (stdout, stderr). Raises RunError if it fails, is killed
    or takes too long; its children go with it."""
    inherited = {name: value for name, value in os.environ.items()
                 if not name.startswith(("PACC_", "PB_"))}
    process = None
    try:
        with interrupts.held():
            process = subprocess.Popen([str(program)], stdout=subprocess.PIPE,
                                       stderr=subprocess.PIPE,
                                       stdin=subprocess.DEVNULL,
                                       env={**inherited, **environment},
                                       start_new_session=True)
        interrupts.check()
        output, errors = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        raise RunError("timeout",
                       f"took more than {timeout:g} seconds") from None
    except OSError as error:
        raise RunError("failed", f"does not start: {error}") from None
    finally:
        if process is not None and process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
    if process.returncode < 0:
        raise RunError("failed", "killed by signal "
                       f"{-process.returncode}: {_last_line(errors)}")
    if process.returncode > 0:
        raise RunError("failed", f"exit status {process.returncode}: "
                       f"{_last_line(errors)}")
    return output, errors


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

    def key(self, job):
        """The job's store key."""
        return store.key(self._head(job))

    def _head(self, job):
        return {"suite": self.manifest["suite"], "kernel": job["kernel"],
                "dataset": job["dataset"], "type": job["type"],
                "config": job["config"], "program": job["program"]["sha256"]}

    def _reference(self, job):
        """The arrays that the original loops give."""
        program = job["reference"]
        if program["error"]:
            raise RunError("failed", f"no reference: {program['error']}")
        path = self.references / f"{program['sha256']}.dump"
        if not path.exists():
            # Under another name first, so that a cut-off file is not used.
            partial = path.with_suffix(".partial")
            try:
                _call(self.folder / program["path"],
                      {"PB_DUMP_FILE": str(partial)}, self.options.timeout)
            except RunError as error:
                raise RunError("failed",
                               f"no reference: {error}") from None
            partial.rename(path)
        return dumps.read(path)

    def _timed(self, job, dump):
        """(times, stderr) of a job; the arrays of a run go to `dump`."""
        program = self.folder / job["program"]["path"]
        environment = dict(job["environment"])
        count = self.options.runs + 1
        if job["repeats"]:
            environment.update(PB_RUNS=str(count), PB_DUMP_FILE=str(dump),
                               PB_SECONDS=str(round(self.options.budget)))
            output, errors = _call(program, environment, self.options.timeout)
            return _times(output), errors
        times, errors = [], b""
        started = time.monotonic()
        for index in range(count):
            environment["PB_DUMP_FILE"] = "" if index else str(dump)
            output, errors = _call(program, environment, self.options.timeout)
            times += _times(output)[:1]
            if time.monotonic() - started > self.options.budget:
                break
        return times, errors

    def _profiled(self, job, path):
        """The device's profile of a job."""
        runs = 2 if job["repeats"] else 1
        _call(self.folder / job["program"]["path"],
              {**job["environment"], "PB_RUNS": str(runs), "PB_DUMP_FILE": "",
               "PACC_PROFILE_CSV": str(path)}, self.options.timeout)
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

    def _measure(self, job, folder):
        """The columns that a job's runs fill."""
        if job["program"]["error"]:
            raise RunError("failed", job["program"]["error"])
        reference = self._reference(job)
        dump = folder / "dump"
        times, errors = self._timed(job, dump)
        try:
            outcome = dumps.compare(reference, dumps.read(dump),
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
        if job["device"] in ("cuda", "cpu"):
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
               "not_offloaded": len(job["program"]["not_offloaded"]),
               "compile_s": job["program"]["seconds"]}
        with tempfile.TemporaryDirectory(dir=self.references) as folder:
            try:
                row.update(self._measure(job, Path(folder)))
            except RunError as error:
                row.update(status=error.status, message=str(error))
        row["message"] = _message(row.get("message", ""))
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
            output, _ = _call(self.folder / program["path"], {},
                              self.options.timeout)
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

    def run(self, stream=None):
        """Runs all jobs that the results file does not have. Returns the rows
        of all jobs, in the manifest's order."""
        waiting = [job for job in self.manifest["jobs"]
                   if self.key(job) not in self.results.done]
        weights = [1 + (job["operations"] or 0) * 1e-9 for job in waiting]
        bar = progress.Progress(weights, **({"stream": stream} if stream
                                            else {}))
        try:
            for job, weight in zip(waiting, weights):
                name = f"{job['kernel']} {job['dataset']} {job['config']}"
                bar.show(name)
                row = self.run_job(job)
                bad = row["status"] not in ("ok", "host")
                bar.step(weight, f"{name}: {row['status']}" +
                         (f": {row['message']}" if row["message"] else ""),
                         bad)
        finally:
            bar.close()
        return [self.results.done[self.key(job)]
                for job in self.manifest["jobs"]]


def origin(manifest):
    """The ORIGIN columns of results that this machine has with a manifest's
    programs."""
    return {"commit": manifest["commit"], "llvm": manifest["llvm"],
            "cuda": manifest["cuda"], **machine.describe()}

"""Runs a manifest's programs under NVIDIA's compute-sanitizer, several at a
time: for faults, not for times.

The file that it writes has a row per program: `ok` if the tool found nothing,
`errors` if it did, `host` if nothing ran on the device (then there was nothing
to find), `failed` and `timeout` with the reason in `message`.
"""

import csv
import os
import re
import shutil
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from . import machine, processes, profile, store

TOOLS = ("memcheck", "racecheck", "synccheck", "initcheck")
COLUMNS = ("date",) + store.ORIGIN + store.KEY + (
    "tool", "status", "errors", "launches", "message")
# What compute-sanitizer itself returns when it has found something.
FOUND = 99


class SanitizerError(Exception):
    """No compute-sanitizer, or no place for its results."""


def find():
    """The path of compute-sanitizer: in PATH, or in a CUDA toolkit."""
    toolkits = [os.environ.get("CUDA_PATH"), os.environ.get("CUDA_HOME"),
                "/usr/local/cuda"]
    places = [os.environ.get("PATH", ""),
              *[os.path.join(folder, "bin") for folder in toolkits if folder]]
    found = shutil.which("compute-sanitizer", path=os.pathsep.join(places))
    if not found:
        raise SanitizerError("there is no compute-sanitizer in PATH, CUDA_PATH "
                             "or /usr/local/cuda: it comes with the CUDA toolkit")
    return found


def errors(output):
    """The number of errors in a report's last line, or None."""
    found = re.findall(r"(?:ERROR|RACECHECK) SUMMARY: (\d+)", output)
    return int(found[-1]) if found else None


class Sanitizer:
    """`folder` holds the manifest's programs; `tool` is one of TOOLS,
    `timeout` in seconds for one program."""

    def __init__(self, folder, tool, timeout):
        self.folder = Path(folder)
        self.tool = tool
        self.timeout = timeout
        self.path = find()
        self._processes = processes.Processes()

    def _outcome(self, job, record):
        """The columns that a program's run fills; its profile goes to
        `record`."""
        environment = {name: value for name, value in os.environ.items()
                       if not name.startswith(("PACC_", "PB_"))}
        environment.update(job["environment"], PB_RUNS="1", PB_DUMP_FILE="",
                           PACC_PROFILE_CSV=str(record))
        command = [self.path, "--tool", self.tool, "--error-exitcode", FOUND,
                   self.folder / job["program"]["path"], *job["arguments"]]
        try:
            status, output, stderr = self._processes.run(command, environment,
                                                         self.timeout)
        except subprocess.TimeoutExpired:
            return {"status": "timeout",
                    "message": f"took more than {self.timeout:g} seconds"}
        report = (output + stderr).decode("utf-8", "replace")
        found = errors(report)
        if found:
            lines = [line.strip("= ") for line in report.splitlines()
                     if line.startswith("=========")]
            return {"status": "errors", "errors": found,
                    "message": " ".join(lines[1:3])}
        if status != 0 or found is None:
            return {"status": "failed", "errors": found, "message":
                    f"exit status {status}: "
                    f"{(report.strip().splitlines() or [''])[-1]}"}
        if not job["profiled"]:
            return {"status": "ok", "errors": 0}
        launches = profile.read(record).launches if record.exists() else 0
        return {"status": "ok" if launches else "host", "errors": 0,
                "launches": launches}

    def row(self, suite, job):
        """The row of a job."""
        row = {"date": machine.today(), "suite": suite, "tool": self.tool,
               **{name: job[name] for name in ("kernel", "dataset", "type",
                                               "config")},
               "program": job["program"]["sha256"]}
        if job["program"]["error"]:
            return {**row, "status": "failed",
                    "message": job["program"]["error"]}
        with tempfile.TemporaryDirectory() as folder:
            return {**row, **self._outcome(job, Path(folder) / "profile.csv")}

    def run(self, manifest, at_once, report):
        """The rows of all jobs that use a device, in the manifest's order;
        report(row) is called with each."""
        jobs = [job for job in manifest["jobs"] if job["device"] != "host"]
        with ThreadPoolExecutor(at_once) as pool:
            rows = []
            try:
                for row in pool.map(
                        lambda job: self.row(manifest["suite"], job), jobs):
                    report(row)
                    rows.append(row)
            except BaseException:
                self._processes.stop()
                raise
        return rows


def check_file(path):
    """Raises SanitizerError if write() would destroy another kind of file."""
    if os.path.exists(path):
        with open(path, encoding="utf-8") as stream:
            if stream.readline().strip() != ",".join(COLUMNS):
                raise SanitizerError(f"{path} holds something else: choose "
                                     "another file with --results")


def write(path, rows, origin):
    """Writes rows to a new CSV file; `origin` as for store.Store."""
    with open(path, "w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, COLUMNS, lineterminator="\n")
        writer.writeheader()
        for row in rows:
            writer.writerow({**row, **{name: origin[name]
                                       for name in store.ORIGIN}})

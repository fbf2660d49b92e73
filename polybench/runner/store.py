"""The results file: a CSV with one row per job, written as soon as the job
has ended, so that an interrupted series goes on where it stopped.

One file holds results of one commit on one machine: a row of another one is
refused.
"""

import csv
import os

# What a row says about where it comes from; equal in all rows of a file.
ORIGIN = ("commit", "llvm", "cuda", "gpu", "driver", "driver_cuda", "cpu",
          "cores", "system")

# What is measured; jobs with the same key are the same job.
KEY = ("suite", "kernel", "dataset", "type", "config", "program")

# status: ok, wrong (outside the tolerance: times are empty), host (nothing ran
# on the device: times are the original loops'), failed, timeout.
# Times: *_s in seconds, *_ms in milliseconds. cold is the first run in a
# process, warm the later ones. spread is (max - min) / median of the warm runs.
COLUMNS = ("date",) + ORIGIN + KEY + (
    "status", "runs", "cold_s", "warm_median_s", "warm_min_s", "warm_max_s",
    "spread", "times_s", "kernel_ms", "copy_in_ms", "copy_out_ms",
    "write_back_ms", "region_ms", "regions", "fallbacks", "launches",
    "bytes_in", "bytes_out", "blocks", "operations", "traffic", "values",
    "differing", "max_absolute", "max_relative", "max_scaled", "not_offloaded",
    "compile_s", "message")


class StoreError(Exception):
    """A results file that cannot take the rows."""


def read(path):
    """The rows of a results file, as dicts of strings."""
    with open(path, newline="", encoding="utf-8") as stream:
        reader = csv.DictReader(stream)
        rows = list(reader)
        if tuple(reader.fieldnames or ()) != COLUMNS:
            raise StoreError(f"{path} has other columns than this version "
                             "writes: choose another file")
    return rows


def key(row):
    return tuple(row[name] for name in KEY)


def _drop_torn_line(path):
    """Removes a last line that a crash cut short."""
    with open(path, "rb+") as stream:
        data = stream.read()
        if data and not data.endswith(b"\n"):
            stream.truncate(data.rfind(b"\n") + 1)


class Store:
    """Adds rows to the file at `path`; `origin` are the values of ORIGIN."""

    def __init__(self, path, origin):
        self.path = os.fspath(path)
        self.origin = {name: origin[name] for name in ORIGIN}
        self.done = {}
        self._stream = None
        if os.path.exists(self.path):
            _drop_torn_line(self.path)
        if os.path.exists(self.path) and os.path.getsize(self.path) > 0:
            rows = read(self.path)
            for row in rows:
                self._check(row)
            self.done = {key(row): row for row in rows}

    def _check(self, row):
        for name in ORIGIN:
            if row[name] != self.origin[name]:
                raise StoreError(
                    f"{self.path} holds results of {name} '{row[name]}', and "
                    f"this is '{self.origin[name]}': choose another file with "
                    "--results")

    def add(self, row):
        """Appends a row, whose missing columns are empty."""
        row = {**row, **self.origin}
        unknown = set(row) - set(COLUMNS)
        if unknown:
            raise StoreError(f"no column '{sorted(unknown)[0]}'")
        if self._stream is None:
            new = not os.path.exists(self.path) or \
                os.path.getsize(self.path) == 0
            folder = os.path.dirname(self.path)
            if folder:
                os.makedirs(folder, exist_ok=True)
            self._stream = open(self.path, "a", newline="", encoding="utf-8")
            self._writer = csv.DictWriter(self._stream, COLUMNS,
                                          lineterminator="\n")
            if new:
                self._writer.writeheader()
        self._writer.writerow(row)
        self._stream.flush()
        os.fsync(self._stream.fileno())
        self.done[key({name: str(row[name]) for name in KEY})] = row

    def close(self):
        if self._stream is not None:
            self._stream.close()
            self._stream = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

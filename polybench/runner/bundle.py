"""Folders of executables that run on a machine with a CUDA driver and Python,
and nothing else: made by `run.py build`, run by `bundle/run`, brought home by
`run.py collect`."""

import json
import shutil
from pathlib import Path

from . import store

# The part of the scripts that runs on the other machine.
MODULES = ("__init__.py", "bundle_main.py", "dumps.py", "execute.py",
           "machine.py", "processes.py", "profile.py", "progress.py",
           "sanitize.py", "selfcheck.py", "store.py")
LIMIT = 60 * 1000 * 1000

RUN = """#!/usr/bin/env python3
import os
import sys

folder = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, folder)
from runner import bundle_main  # noqa: E402

sys.exit(bundle_main.main(folder))
"""


class BundleError(Exception):
    """A bundle that cannot be made or read."""


def _size(folder):
    return sum(path.stat().st_size for path in folder.rglob("*")
               if path.is_file())


def finish(out):
    """Makes a bundle of a folder that build.Builder has filled."""
    out = Path(out)
    # The notes beside the programs stay: the next build keeps what still fits.
    for path in out.glob("bin/*.o"):
        path.unlink()
    for path in out.glob("bin/*.made"):
        shutil.rmtree(path)
    scripts = out / "runner"
    scripts.mkdir(exist_ok=True)
    for name in MODULES:
        shutil.copy(Path(__file__).with_name(name), scripts / name)
    run = out / "run"
    run.write_text(RUN)
    run.chmod(0o755)
    size = _size(out)
    if size > LIMIT:
        raise BundleError(f"the bundle has {size / 1e6:.0f} MB and a bundle "
                          f"may have {LIMIT / 1e6:.0f}: build fewer kernels, "
                          "datasets or configurations at once")
    return size


def collect(folder, path):
    """Adds the rows of a bundle's results to the results file at `path`; its
    rows of other commits or machines are an error. Returns the number of rows
    that were new."""
    results = Path(folder) / "results.csv"
    if not results.exists():
        raise BundleError(f"{results} is missing: has {folder}/run been run?")
    rows = store.read(results)
    if not rows:
        raise BundleError(f"{results} has no rows")
    manifest = json.loads((Path(folder) / "manifest.json").read_text())
    for row in rows:
        if row["commit"] != manifest["commit"]:
            raise BundleError(f"{results} has results of commit "
                              f"{row['commit']}, the bundle is of "
                              f"{manifest['commit']}")
    new = 0
    with store.Store(path, rows[0]) as target:
        for row in rows:
            if store.key(row) not in target.done:
                target.add(row)
                new += 1
    return new

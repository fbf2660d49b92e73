"""The command line of a bundle's `run`. Needs the standard library only."""

import argparse
import json
import sys
from pathlib import Path

from . import execute, interrupts, store


def add_options(parser):
    """The options of a series of runs."""
    parser.add_argument("--runs", type=int, default=5, metavar="N",
                        help="timed runs after the cold one (5)")
    parser.add_argument("--timeout", type=float, default=300, metavar="S",
                        help="seconds that a process may take (300)")
    parser.add_argument("--budget", type=float, default=60, metavar="S",
                        help="seconds after which a job starts no further "
                        "timed run (60)")
    parser.add_argument("--tolerance", type=float, metavar="T",
                        help="error allowed to configurations that round "
                        "otherwise, as a share of the array's largest value "
                        "(1e-8 for double, 1e-3 for float)")


def options(parsed):
    return execute.Options(parsed.runs, parsed.timeout, parsed.budget,
                           parsed.tolerance)


def run(manifest, folder, results, parsed):
    """Runs a manifest, reports to the reader. Exit status: 0 all results are
    right, 1 some are not, 3 interrupted."""
    interrupts.install()
    with store.Store(results, execute.origin(manifest)) as target:
        runner = execute.Runner(manifest, folder, target, options(parsed))
        ready = sum(runner.key(job) in target.done
                    for job in manifest["jobs"])
        if ready:
            print(f"{ready} of {len(manifest['jobs'])} jobs are in {results}")
        try:
            missing = runner.measure_device()
            if missing:
                print(f"the device's rates were not measured: {missing}")
            rows = runner.run()
        except KeyboardInterrupt:
            print(f"interrupted; {len(target.done)} rows are in {results}: "
                  "the same command goes on from there", file=sys.stderr)
            return 3
    bad = [row for row in rows if row["status"] not in ("ok", "host")]
    for row in bad:
        print(f"{row['status']}: {row['kernel']} {row['dataset']} "
              f"{row['config']}: {row['message']}")
    host = sum(row["status"] == "host" for row in rows)
    print(f"{len(rows) - len(bad)} of {len(rows)} jobs have right results"
          f"{f', but {host} ran their original loops' if host else ''}: "
          f"{results}")
    return 1 if bad else 0


def main(folder, arguments=None):
    parser = argparse.ArgumentParser(
        description="Runs this bundle's programs and writes results.csv. A "
        "series that was interrupted goes on where it stopped.")
    add_options(parser)
    parsed = parser.parse_args(arguments)
    manifest = json.loads((Path(folder) / "manifest.json").read_text())
    try:
        return run(manifest, folder, Path(folder) / "results.csv", parsed)
    except store.StoreError as error:
        print(f"run: {error}", file=sys.stderr)
        return 2

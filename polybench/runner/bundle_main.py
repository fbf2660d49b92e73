"""The command line of a bundle's `run`. Needs the standard library only."""

import argparse
import json
import sys
from pathlib import Path

from . import execute, processes, sanitize, store


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
    parser.add_argument("--references", type=int, default=1, metavar="N",
                        help="first run the jobs that others are compared "
                        "with, N at a time: their times are then those of a "
                        "busy machine, and their rows say so (1)")
    parser.add_argument("--sanitizer", choices=sanitize.TOOLS, metavar="TOOL",
                        help="no times: run what uses a device under "
                        "compute-sanitizer's TOOL ("
                        f"{', '.join(sanitize.TOOLS)})")
    parser.add_argument("--at-once", type=int, default=4, metavar="N",
                        help="with --sanitizer: programs side by side (4)")


def _options(parsed):
    return execute.Options(parsed.runs, parsed.timeout, parsed.budget,
                           parsed.tolerance, parsed.references)


def words(text):
    """`a,b` as a list."""
    return [word for word in text.split(",") if word]


def _select(manifest, **wanted):
    """A manifest with those of its jobs that have one of the wanted values in
    each column; None wants all."""
    for column, values in wanted.items():
        known = {job[column] for job in manifest["jobs"]}
        for value in values or ():
            if value not in known:
                raise store.StoreError(f"the bundle has no {column} '{value}': "
                                       f"{', '.join(sorted(known))}")
    return {**manifest, "jobs": [
        job for job in manifest["jobs"]
        if all(values is None or job[column] in values
               for column, values in wanted.items())]}


def run(manifest, folder, results, parsed):
    """Runs a manifest, reports to the reader. Exit status: 0 all results are
    right, 1 some are not, 3 interrupted."""
    processes.install()
    if parsed.sanitizer:
        return _sanitize(manifest, folder, results, parsed)
    with store.Store(results, execute.origin(manifest)) as target:
        runner = execute.Runner(manifest, folder, target, _options(parsed))
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


def _sanitize(manifest, folder, results, parsed):
    """The same for --sanitizer: 0 nothing was found, 1 something was, or did
    not run."""
    def report(row):
        print(f"{row['kernel']} {row['dataset']} {row['config']}: "
              f"{row['status']} {row.get('message', '')}".rstrip(), flush=True)

    sanitize.check_file(results)
    try:
        rows = sanitize.Sanitizer(folder, parsed.sanitizer,
                                  parsed.timeout).run(
            manifest, parsed.at_once, report)
    except KeyboardInterrupt:
        print("interrupted: nothing is recorded", file=sys.stderr)
        return 3
    sanitize.write(results, rows, execute.origin(manifest))
    clean = sum(row["status"] == "ok" for row in rows)
    print(f"{parsed.sanitizer}: nothing found in {clean} of {len(rows)} "
          f"programs: {results}")
    return 0 if clean == len(rows) else 1


def main(folder, arguments=None):
    parser = argparse.ArgumentParser(
        description="Runs this bundle's programs and writes results.csv. A "
        "series that was interrupted goes on where it stopped.")
    for name in ("kernels", "datasets", "configs"):
        parser.add_argument(f"--{name}", type=words, metavar="A,B",
                            help="only these; default: all")
    parser.add_argument("--results", metavar="FILE",
                        help="default: results.csv in the bundle")
    add_options(parser)
    parsed = parser.parse_args(arguments)
    manifest = json.loads((Path(folder) / "manifest.json").read_text())
    try:
        manifest = _select(manifest, kernel=parsed.kernels,
                           dataset=parsed.datasets, config=parsed.configs)
        name = f"{parsed.sanitizer or 'results'}.csv"
        return run(manifest, folder, parsed.results or Path(folder) / name,
                   parsed)
    except (store.StoreError, sanitize.SanitizerError) as error:
        print(f"run: {error}", file=sys.stderr)
        return 2

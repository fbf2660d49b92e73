"""The command line of polybench/sweep.py: makes the folder of programs; what
comes back is judged by evaluate.py."""

import argparse
import sys
from pathlib import Path

from . import build, cli, configs, evaluate, suites

# Runs on a machine with a CUDA driver and a shell. Smaller datasets first.
GO = """#!/bin/sh
# usage: go.sh RESULTS [SECONDS] [TOTAL]: sweeps all programs; the CSV files,
# and what the programs said, go to RESULTS. A program may take so many seconds
# (60), and none is started after TOTAL seconds (780). What is there stays.
set -u
here=$(cd "$(dirname "$0")" && pwd)
out=${1:?usage: go.sh RESULTS [SECONDS] [TOTAL]}
limit=${2:-60}
end=$(($(date +%s) + ${3:-780}))
mkdir -p "$out"
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader \
  > "$out/device.txt" 2>&1
cp "$here/manifest.json" "$out/"
export PACC_DEVICE=cuda PACC_LOG=info PB_RUNS=1 PB_DUMP_FILE=
for dataset in @DATASETS@; do
  for program in "$here"/bin/*-$dataset-*; do
    name=$(basename "$program")
    if [ "$(date +%s)" -ge "$end" ]; then exit 1; fi
    if [ -s "$out/$name.csv" ]; then continue; fi
    PACC_SWEEP="$out/$name.csv" timeout "$limit" "$program" \
      > "$out/$name.log" 2>&1
    echo "$name: status $?, $(wc -l < "$out/$name.csv") rows"
  done
done
"""


def _build(options):
    out = Path(options.out)
    suite = suites.find(options.suite)
    toolchain = build.Toolchain(options.clang, Path(options.build_dir),
                                suites.OWN.parent, options.cuda, options.arch)
    config = configs.parse("sweep")
    toolchain.check([config])
    jobs = [build.Job(kernel, dataset, options.type, config)
            for kernel in suite.select(options.kernels)
            for dataset in options.datasets]
    manifest = build.Builder(toolchain, suite, out).build(jobs, options.jobs)
    for path in [*out.glob("bin/*.o"), *out.glob("bin/*.json"),
                 *out.glob("bin/*-seq"), *out.glob("bin/device_rates")]:
        path.unlink()
    go = out / "go.sh"
    datasets = sorted(options.datasets, key=suites.DATASETS.index)
    go.write_text(GO.replace("@DATASETS@", " ".join(datasets).lower()))
    go.chmod(0o755)
    failed = [job for job in manifest["jobs"] if job["program"]["error"]]
    for job in failed:
        print(f"{job['kernel']}: {job['program']['error']}", file=sys.stderr)
    size = sum(path.stat().st_size for path in out.rglob("*") if path.is_file())
    print(f"{out}: {len(jobs) - len(failed)} programs, {size / 1e6:.1f} MB; "
          f"copy it to the GPU's machine and start go.sh there")
    return 1 if failed else 0


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="sweep.py", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True,
                                     metavar="COMMAND")
    command = commands.add_parser("build", help="make a folder of programs "
                                  "for a GPU")
    cli.add_matrix(command, configurations=False)
    command.add_argument("--out", required=True, metavar="DIR")
    command.set_defaults(action=_build)
    command = commands.add_parser("evaluate", help="judge the model by the "
                                  "results of a sweep")
    evaluate.add_options(command)
    command = commands.add_parser("registers", help="compare the estimate of "
                                  "registers with ptxas")
    evaluate.add_register_options(command)
    options = parser.parse_args(arguments)
    try:
        return options.action(options)
    except (*cli.ERRORS, evaluate.EvaluationError) as error:
        print(f"sweep.py: {error}", file=sys.stderr)
        return 2

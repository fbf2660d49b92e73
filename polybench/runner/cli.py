"""The command line of polybench/run.py."""

import argparse
import os
import re
import sys
from pathlib import Path

from . import (build, bundle, bundle_main, configs, execute, machine, recipes,
               remarks, sanitize, store, suites)

RESULTS = suites.OWN / "results" / "runs"
ERRORS = (suites.SuiteError, configs.ConfigError, build.BuildError,
          bundle.BundleError, store.StoreError, sanitize.SanitizerError)


def _datasets(text):
    names = [name.upper() for name in bundle_main.words(text)]
    for name in names:
        if name not in suites.DATASETS:
            raise argparse.ArgumentTypeError(
                f"'{name}' is no dataset: {', '.join(suites.DATASETS)}")
    return names


def add_matrix(parser, configurations=True):
    """The options that say what is built, and with what."""
    group = parser.add_argument_group("what is built")
    group.add_argument("--suite", default=str(suites.OWN), metavar="DIR",
                       help="polybench/dynpar, or a checkout of PolyBench/C 4 "
                       "or PolyBench-ACC; default: this project's kernels")
    group.add_argument("--kernels", type=bundle_main.words, default=["all"],
                       metavar="A,B", help="default: all")
    group.add_argument("--datasets", type=_datasets, default=["LARGE"],
                       metavar="A,B", help="default: LARGE")
    if configurations:
        group.add_argument("--configs", type=bundle_main.words, default=["seq", "auto"],
                           metavar="A,B", help="default: seq,auto; `run.py "
                           "configs` explains them")
    group.add_argument("--type", default="default",
                       choices=("default", "double", "float", "int"),
                       help="element type; default: each kernel's own")
    group = parser.add_argument_group("with what")
    group.add_argument("--build-dir", metavar="DIR",
                       default=str(suites.OWN.parent / "build"),
                       help="the project's build folder (build)")
    group.add_argument("--clang", metavar="PATH",
                       default="/usr/lib/llvm-22/bin/clang",
                       help="LLVM 22's clang")
    group.add_argument("--cuda", metavar="DIR", default="/usr/local/cuda",
                       help="the CUDA toolkit")
    group.add_argument("--arch", default="sm_90", metavar="SM",
                       help="GPU architecture (sm_90)")
    group.add_argument("--gcc", default="", metavar="PATH",
                       help="GCC, for gcc and gcc-acc")
    group.add_argument("--ppcg", default="", metavar="PATH",
                       help="PPCG, for ppcg")
    group.add_argument("--left-alone", metavar="FILE",
                       help="write the loop nests that were not offloaded, and "
                       "why, to this CSV file")
    group.add_argument("-j", "--jobs", type=int, default=os.cpu_count(),
                       metavar="N", help="compilers at once")


def _build(options, out):
    """Builds what the options say: the manifest."""
    suite = suites.find(options.suite)
    kernels = suite.select(options.kernels)
    chosen = [configs.parse(name) for name in options.configs]
    suite.check(options.datasets, chosen)
    toolchain = build.Toolchain(options.clang, Path(options.build_dir),
                                suites.OWN.parent, options.cuda, options.arch,
                                options.gcc, options.ppcg)
    toolchain.check(chosen)
    for config in chosen:
        without = [kernel.name for kernel in kernels
                   if not recipes.fits(kernel, config)]
        if without:
            print(f"no {config.name} of {', '.join(without)}", file=sys.stderr)
    jobs = [build.Job(kernel, dataset, options.type, config)
            for kernel in kernels for dataset in options.datasets
            for config in chosen if recipes.fits(kernel, config)]
    if not jobs:
        raise build.BuildError("so there is nothing to build")

    def report(done, total, text):
        if sys.stderr.isatty():
            sys.stderr.write(f"\r\033[Kbuilding {done}/{total} {text}")
            if done == total:
                sys.stderr.write("\r\033[K")
            sys.stderr.flush()

    manifest = build.Builder(toolchain, suite, out).build(jobs, options.jobs,
                                                          report)
    failed = [job for job in manifest["jobs"] if job["program"]["error"]]
    for job in failed:
        print(f"{job['kernel']} {job['dataset']} {job['config']}: "
              f"{job['program']['error']}", file=sys.stderr)
    if options.left_alone:
        remarks.write(options.left_alone, manifest)
    return manifest


def default_results(origin):
    """The results file of a commit on a machine."""
    device = origin["gpu"] if origin["gpu"] != "none" else origin["cpu"]
    label = re.sub(r"\W+", "-", device.lower()).strip("-")
    return RESULTS / f"{origin['commit'].replace('+', '-')}-{label}.csv"


def _run(options):
    manifest = _build(options, options.work)
    results = options.results or default_results(execute.origin(manifest))
    if options.sanitizer and not options.results:
        results = results.with_suffix(f".{options.sanitizer}.csv")
    return bundle_main.run(manifest, options.work, results, options)


def _make_bundle(options):
    manifest = _build(options, options.out)
    size = bundle.finish(options.out)
    print(f"{options.out}: {len(manifest['jobs'])} jobs, {size / 1e6:.1f} MB; "
          f"copy it to the GPU's machine and start {options.out}/run there")
    if any(job["device"] == "cpu" for job in manifest["jobs"]):
        print(f"its jobs on the CPU device need {options.build_dir} there")
    return 1 if any(job["program"]["error"] for job in manifest["jobs"]) else 0


def _collect(options):
    rows = store.read(Path(options.bundle) / "results.csv") \
        if (Path(options.bundle) / "results.csv").exists() else []
    results = options.results or (default_results(rows[0]) if rows else "-")
    new = bundle.collect(options.bundle, results)
    print(f"{new} new rows in {results}")
    return 0


def _show(options):
    for row in store.read(options.file):
        time = row["warm_median_s"] or row["cold_s"] or "-"
        print(f"{row['kernel']:15} {row['dataset']:10} {row['config']:12} "
              f"{row['status']:7} {time:>12} s {row['kernel_ms'] or '-':>14} "
              f"ms {row['launches'] or '-':>8} launches  "
              f"{row['max_scaled'] or '-'}  {row['message']}")
    return 0


def _list(options):
    for name in suites.find(options.suite).kernels:
        print(name)
    return 0


def _configs(_):
    print(configs.__doc__.strip())
    return 0


def _parser():
    parser = argparse.ArgumentParser(
        prog="run.py", description="Builds and runs PolyBench kernels, checks "
        "their results, and records times.")
    commands = parser.add_subparsers(dest="command", required=True,
                                     metavar="COMMAND")
    command = commands.add_parser("run", help="build and run here")
    add_matrix(command)
    group = command.add_argument_group("how it is run")
    bundle_main.add_options(group)
    group.add_argument("--work", metavar="DIR",
                       default=str(suites.OWN.parent / "build" / "polybench"),
                       help="folder for programs and references "
                       "(build/polybench)")
    group.add_argument("--results", metavar="FILE",
                       help="default: a file of this commit and machine in "
                       "polybench/results/runs")
    command.set_defaults(action=_run)

    command = commands.add_parser("build", help="make a folder that runs on "
                                  "another machine")
    add_matrix(command)
    command.add_argument("--out", required=True, metavar="DIR")
    command.set_defaults(action=_make_bundle)

    command = commands.add_parser("collect", help="bring a bundle's results "
                                  "home")
    command.add_argument("bundle")
    command.add_argument("--results", metavar="FILE")
    command.set_defaults(action=_collect)

    command = commands.add_parser("show", help="print a results file")
    command.add_argument("file")
    command.set_defaults(action=_show)

    command = commands.add_parser("list", help="list a suite's kernels")
    command.add_argument("--suite", default=str(suites.OWN), metavar="DIR")
    command.set_defaults(action=_list)

    command = commands.add_parser("configs", help="explain configurations")
    command.set_defaults(action=_configs)
    return parser


def main(arguments=None):
    options = _parser().parse_args(arguments)
    try:
        status = options.action(options)
        sys.stdout.flush()
        return status
    except BrokenPipeError:
        # The reader, `head` say, has seen enough; nothing is left to flush.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except (*ERRORS, OSError) as error:
        print(f"run.py: {error}", file=sys.stderr)
        return 2

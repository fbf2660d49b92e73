"""Runs a PolyBench kernel offloaded on the CPU device against the original.

    differential.py --clang CLANG --flags 'PLUGIN FLAGS' --link 'RUNTIME FLAGS'
                    --source ROOT --work DIR [--stays FORM] [--seconds S] KERNEL

For arrays of constant size (MINI, SMALL) and for VLAs (MINI) every bit of the
results must be equal, with blocks and threads in three orders, and kernels
must have run without any complaint. --stays array or vla names a form whose
loops are known to stay on the CPU: there no kernel may run.
"""

import argparse
import csv
import os
import shlex
import subprocess
import sys
from pathlib import Path

FORMS = [("MINI", []), ("MINI", ["-DPOLYBENCH_USE_C99_PROTO"]), ("SMALL", [])]
SEEDS = ["0", "1", "2"]


def run(command, seconds, **more):
    """Standard error of a command that must end well."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=seconds, **more)
    if done.returncode:
        sys.exit(f"{shlex.join(map(str, command))}\nended with {done.returncode}\n"
                 f"{done.stdout[-2000:]}{done.stderr[-4000:]}")
    return done.stderr


def first_difference(expected, got):
    for number, (old, new) in enumerate(zip(expected.split(), got.split())):
        if old != new:
            return f"word {number}: {old} became {new}"
    return "one of the dumps is longer"


def kernels_run(profile, function):
    """How many launches of the kernel function's loops a profile holds."""
    if not profile.exists():
        return 0
    with profile.open(newline="") as file:
        return sum(row["kind"] == "kernel" and row["name"].startswith(function)
                   for row in csv.DictReader(file))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    for name in ("clang", "flags", "link"):
        parser.add_argument(f"--{name}", required=True)
    for name in ("source", "work"):
        parser.add_argument(f"--{name}", required=True, type=Path)
    parser.add_argument("--stays", action="append", choices=["array", "vla"], default=[])
    parser.add_argument("--seconds", type=int, default=120, help="limit of one command")
    parser.add_argument("kernel")
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    polybench = options.source / "polybench"
    function = "kernel_" + options.kernel.replace("-", "_")
    common = [options.clang, "-O3", f"-I{polybench / 'common'}", "-DPOLYBENCH_DUMP_ARRAYS",
              "-DPOLYBENCH_DUMP_EXACT", "-fno-math-errno",
              polybench / "kernels" / options.kernel / f"{options.kernel}.c",
              polybench / "common/polybench.c"]
    problems = []
    for dataset, form in FORMS:
        name = f"{dataset}{''.join(form)}"
        stays = ("vla" if form else "array") in options.stays
        original, offloaded = options.work / f"{name}.original", options.work / f"{name}.offloaded"
        build = common + [f"-D{dataset}_DATASET", *form, "-lm"]
        run([*build, "-o", original], options.seconds)
        run([*build, *shlex.split(options.flags), "-mllvm", "-polly-acc-fma=off", "-o", offloaded,
             *shlex.split(options.link)], options.seconds)
        expected = run([original], options.seconds)
        for seed in SEEDS:
            profile = options.work / f"{name}.{seed}.csv"
            profile.unlink(missing_ok=True)
            got = run([offloaded], options.seconds, env=os.environ | {
                "PACC_DEVICE": "cpu", "PACC_CPU_SEED": seed, "PACC_PROFILE_CSV": str(profile)})
            launches = kernels_run(profile, function)
            print(f"{options.kernel} {name} seed {seed}: {launches} launches")
            if "pacc: " in got:
                problems.append(f"{name} seed {seed}: " + got[got.index("pacc: "):][:400])
            elif got != expected:
                problems.append(f"{name} seed {seed}: {first_difference(expected, got)}")
            if bool(launches) == stays:
                problems.append(f"{name} seed {seed}: {launches} launches of {function}")
    print("\n".join(problems))
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())

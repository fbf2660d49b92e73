#!/usr/bin/env python3
"""Builds and runs the dynamic-parallelism programs.

    dynpar.py build --plugin build/lib/PollyACC.so --out DIR
    dynpar.py run DIR [--csv FILE] [--quick] [--limit SECONDS]
    dynpar.py sanitize DIR --sanitizer COMPUTE_SANITIZER

`build` needs clang 22 and a CUDA toolkit, but no GPU: DIR, with this script
copied into it, can be taken to another machine. `run` needs a GPU and Python.

A program is built in these variants:

    plain       dynamic parallelism as CUDA does it, at its best: per-thread
                default streams
    plain-null  the same with CUDA's default streams
    flat        without dynamic parallelism
    warp, block, grid, auto   merged by the plugin
    small-pool  auto, with 1 MB for records: rules only
    cub         against CUB: warp and block, which print the variants cub and own

What makes a launch per thread or warp runs with a raised limit of launches that
wait, since it would lose some; the others with CUDA's own, since each launch
takes longer with a higher limit.
"""

from __future__ import annotations

import argparse
import csv
import datetime
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

HERE = pathlib.Path(__file__).resolve().parent
GRAPH_PROGRAMS = ["bfs", "sssp", "gc", "tc", "mst", "ccl"]
PROGRAMS = [*GRAPH_PROGRAMS, "sp", "bt", "mandelbrot", "qt", "quicksort"]
COMPARISONS = ["warp", "block", "overhead"]
TESTS = ["rules", "limits"]
MERGED = ["warp", "block", "grid", "auto"]
TEST_LIMIT = 30  # seconds
# What a program prints, and the columns of a table of results.
PRINTED = ["program", "variant", "size", "graph", "median_ms", "least_ms", "result"]
FIELDS = ["date", "commit", "llvm", "cuda", "gpu", "driver", "pending_limit", *PRINTED]


def pending_limit(variant: str) -> int:
    """The limit of launches that wait that a variant runs with."""
    return 1 << 18 if variant in ["plain", "plain-null", "warp"] else 2048


def variants_of(program: str) -> list[str]:
    """The variants in which a program is built."""
    if program == "limits":
        return ["plain-null", *MERGED]
    if program == "rules":
        return ["plain", "plain-null", *MERGED, "small-pool"]
    if program in ["warp", "block"]:
        return ["cub"]
    if program == "overhead":
        return ["plain-null", *MERGED]
    return ["plain", "plain-null", "flat", *MERGED]


def variant_flags(variant: str, plugin: str) -> list[str]:
    """Compiler flags of a variant."""
    flags = [f'-DDYNPAR_VARIANT="{variant}"']
    if variant == "plain":
        flags += ["-DCUDA_API_PER_THREAD_DEFAULT_STREAM=1", "-fgpu-default-stream=per-thread"]
    elif variant == "flat":
        flags += ["-DDYNPAR_FLAT"]
    elif variant == "small-pool":
        flags += [f"-fpass-plugin={plugin}", "-mllvm", "-polly-acc-agg"]
        flags += ["-mllvm", "-polly-acc-agg-pool=1M"]
    elif variant in MERGED:
        flags += [f"-fpass-plugin={plugin}", "-mllvm", f"-polly-acc-agg={variant}"]
    return flags


def build_one(args: argparse.Namespace, program: str, variant: str) -> str:
    """Builds one program; returns what clang said if it failed."""
    library = f"{args.cuda}/lib64"
    command = [
        args.clang, "-std=c++17", "-O3", "-D__CUDACC_RDC__",
        f"--cuda-path={args.cuda}", f"--cuda-gpu-arch={args.arch}",
        "-Wno-unknown-cuda-version", "-fgpu-rdc", "-Wl,-s", f"-I{args.cuda}/include/cccl",
        *variant_flags(variant, args.plugin),
        str(HERE / f"{program}.cu"), "-o", str(args.out / f"{program}.{variant}"),
        "-Xoffload-linker", "-lcudadevrt", "-Xoffload-linker", f"-L{library}",
        f"-L{library}", "-lcudart_static", "-ldl", "-lrt", "-lpthread",
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stderr if done.returncode else ""


def said(command: list[str], pattern: str) -> str:
    """The first group of a pattern in a command's output, or an empty string."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=HERE)
    except OSError:
        return ""
    found = re.search(pattern, done.stdout)
    return found[1].strip() if found else ""


def build_facts(args: argparse.Namespace) -> dict[str, str]:
    """What a table of results says about the build."""
    header = (pathlib.Path(args.cuda) / "include" / "cuda.h").read_text(encoding="utf-8")
    version = int(re.search(r"#define CUDA_VERSION (\d+)", header)[1])
    return {
        "commit": said(["git", "rev-parse", "--short=7", "HEAD"], r"(\w+)"),
        "llvm": said([args.clang, "--version"], r"version ([\d.]+)"),
        "cuda": f"{version // 1000}.{version % 1000 // 10}",
    }


def run_facts(folder: pathlib.Path) -> dict[str, str]:
    """What a table of results says about the build and the machine."""
    query = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
    facts = folder / "build.json"
    return {
        "date": datetime.date.today().isoformat(),
        **(json.loads(facts.read_text(encoding="utf-8")) if facts.exists() else {}),
        "gpu": said(query, r"^(.*?),"),
        "driver": said(query, r", *([\d.]+)"),
    }


def build(args: argparse.Namespace) -> int:
    """Builds every program in every variant."""
    args.out.mkdir(parents=True, exist_ok=True)
    args.plugin = str(pathlib.Path(args.plugin).resolve())
    jobs = [(p, v) for p in PROGRAMS + COMPARISONS + TESTS for v in variants_of(p)]
    if args.only:
        jobs = [(p, v) for p, v in jobs if p in args.only]
    if args.variants:
        jobs = [(p, v) for p, v in jobs if v in args.variants]
    with ThreadPoolExecutor(args.jobs) as pool:
        answers = list(pool.map(lambda job: build_one(args, *job), jobs))
    failed = 0
    for (program, variant), answer in zip(jobs, answers):
        if answer:
            failed += 1
            print(f"{program}.{variant} does not build:\n{answer}", file=sys.stderr)
    shutil.copy2(__file__, args.out / "dynpar.py")
    facts = json.dumps(build_facts(args))
    (args.out / "build.json").write_text(facts, encoding="utf-8")
    print(f"{len(jobs) - failed} of {len(jobs)} programs built in {args.out}")
    return 1 if failed else 0


def execute(command: list[str], limit: int) -> tuple[str, str]:
    """Output of a command, and what went wrong or an empty string."""
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=limit, check=False
        )
    except subprocess.TimeoutExpired:
        return "", f"no end within {limit} s"
    why = done.stderr.strip() or f"exit status {done.returncode}"
    return done.stdout, why if done.returncode else ""


def run_tests(args: argparse.Namespace) -> int:
    """Runs rules and limits; returns how many went wrong."""
    wrong = 0
    limit = min(args.limit, TEST_LIMIT)
    for program in TESTS:
        for variant in variants_of(program):
            path = args.dir / f"{program}.{variant}"
            if not path.exists():
                continue
            output, why = execute([str(path)], limit)
            print(output, end="")
            if why:
                wrong += 1
                print(f"{program}.{variant}: {why}")
    return wrong


def program_arguments(program: str, quick: bool, repeat: int = 1) -> list[list[str]]:
    """Argument lists to run a program with."""
    sizes = {
        "bt": [2000, 1 << 15],
        "mandelbrot": [512, 1024],
        "qt": [4000, 1 << 18],
        "quicksort": [4000, 1 << 18],
        "sp": [1000, 1 << 15],
        "warp": [1 << 10, 1 << 19],
        "block": [1 << 10, 1 << 19],
        "overhead": [1 << 14, 1 << 20],
    }
    small, large = sizes.get(program, [2000, 1 << 16])
    common = ["--size", str(small if quick else large), "--repeat", str(1 if quick else repeat)]
    if program in GRAPH_PROGRAMS:
        return [[*common, "--graph", graph] for graph in ("rmat", "road", "uniform")]
    return [common]


def run_programs(args: argparse.Namespace, keep) -> tuple[list[dict], int]:
    """Runs the programs and keeps each row; returns the rows, and how many went wrong."""
    rows, wrong = [], 0
    facts = run_facts(args.dir)
    for program in PROGRAMS + COMPARISONS:
        if args.only and program not in args.only:
            continue
        for arguments in program_arguments(program, args.quick, args.repeat):
            for variant in variants_of(program):
                path = args.dir / f"{program}.{variant}"
                if not path.exists():
                    continue
                facts["pending_limit"] = pending_limit(variant)
                command = [str(path), *arguments, "--pending", str(facts["pending_limit"])]
                output, why = execute(command, args.limit)
                if why:
                    wrong += 1
                    print(f"{' '.join(command[1:])} {path.name}: {why}")
                for line in csv.reader(output.splitlines()):
                    rows.append({**facts, **dict(zip(PRINTED, line))})
                    keep(rows[-1])
                    print(",".join(line), flush=True)
    return rows, wrong


def summarise(rows: list[dict]) -> None:
    """Speedups over plain, per variant, as geometric means."""
    cases: dict[tuple, dict[str, float]] = {}
    for row in rows:
        if row["result"] == "ok":
            key = (row["program"], row["size"], row["graph"])
            cases.setdefault(key, {})[row["variant"]] = float(row["median_ms"])
    for variant in ["plain-null", "flat", *MERGED]:
        ratios = [c["plain"] / c[variant] for c in cases.values() if "plain" in c and variant in c]
        if ratios:
            mean = statistics.geometric_mean(ratios)
            print(f"{variant}: {mean:.2f} times as fast as plain over {len(ratios)} cases")


def sanitize(args: argparse.Namespace) -> int:
    """memcheck of the merged programs at small sizes. (racecheck and synccheck of
    CUDA 13.0 say that they do not support dynamic parallelism.)"""
    wrong = 0
    for tool in args.tools:
        for program in args.only or [*PROGRAMS, "rules"]:
            for variant in MERGED:
                path = args.dir / f"{program}.{variant}"
                if not path.exists():
                    continue
                arguments = ["shapes", "order", "recursion", "barriers", "streams", "tail"]
                if program != "rules":
                    arguments = program_arguments(program, True)[0]
                output, why = execute(
                    [args.sanitizer, "--tool", tool, "--error-exitcode", "9", str(path), *arguments],
                    args.limit,
                )
                print(f"{tool},{program},{variant},{'wrong' if why else 'ok'}", flush=True)
                if why:
                    wrong += 1
                    print(output[-2000:], why[-2000:])
    print(f"{wrong} went wrong")
    return 1 if wrong else 0


def run(args: argparse.Namespace) -> int:
    """Runs tests and programs in a folder that build made."""
    wrong = 0 if args.only else run_tests(args)
    with open(args.csv or os.devnull, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, FIELDS)
        writer.writeheader()

        def keep(row: dict) -> None:
            writer.writerow(row)
            file.flush()

        rows, bad = run_programs(args, keep)
    wrong += bad
    summarise(rows)
    print(f"{wrong} went wrong")
    return 1 if wrong else 0


def folder(text: str) -> pathlib.Path:
    """An absolute path: programs are started by it."""
    return pathlib.Path(text).resolve()


def main() -> int:
    """Reads the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(required=True)
    builder = commands.add_parser("build", help="build all variants")
    builder.add_argument("--plugin", required=True, help="PollyACC.so")
    builder.add_argument("--out", required=True, type=pathlib.Path)
    builder.add_argument("--clang", default=shutil.which("clang++-22") or "clang++")
    builder.add_argument("--cuda", default=os.environ.get("CUDA_PATH", "/usr/local/cuda"))
    builder.add_argument("--arch", default="sm_90")
    builder.add_argument("--jobs", type=int, default=os.cpu_count())
    builder.add_argument("--only", nargs="*", help="these programs")
    builder.add_argument("--variants", nargs="*", help="these variants")
    builder.set_defaults(work=build)
    runner = commands.add_parser("run", help="run what was built")
    runner.add_argument("dir", type=folder)
    runner.add_argument("--csv", help="write the times to this file")
    runner.add_argument("--quick", action="store_true", help="small sizes, one repetition")
    runner.add_argument("--limit", type=int, default=120, help="seconds for each program")
    runner.add_argument("--only", nargs="*", help="these programs, and no tests")
    runner.add_argument("--repeat", type=int, default=5, help="timed rounds of each program")
    runner.set_defaults(work=run)
    checker = commands.add_parser("sanitize", help="run what was built in compute-sanitizer")
    checker.add_argument("dir", type=folder)
    checker.add_argument("--sanitizer", default="compute-sanitizer", help="its path")
    checker.add_argument("--limit", type=int, default=300, help="seconds for each program")
    checker.add_argument("--only", nargs="*", help="these programs")
    checker.add_argument("--tools", nargs="*", default=["memcheck"])
    checker.set_defaults(work=sanitize)
    args = parser.parse_args()
    return args.work(args)


if __name__ == "__main__":
    sys.exit(main())

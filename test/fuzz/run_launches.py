#!/usr/bin/env python3
"""Differential tests of random programs with launches from kernels.

  test/fuzz/run_launches.py --build build --seeds 0..99
  test/fuzz/run_launches.py --build build --device cuda --seconds 600 --seeds 0..9999

Every seed is a case of launches.py; --per-file cases make a program. It is
compiled as it stands and with launches merged at every granularity, and runs on
the CPU device in several orders of grids, blocks and threads, or several times
on a GPU: all must print what it prints on the CPU device as it stands. The level
two-files has the children in a file of their own; few-wait lets only a few
launches wait, which must lose none. --seconds starts no more programs after so
long. Programs of failing cases are kept in --keep. The exit status is 1 if a
case failed.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import launches
from run import seed_range

ROOT = Path(__file__).resolve().parents[2]


@dataclass
class Level:
    """How a program is compiled and run."""

    flags: list[str]
    parts: tuple[int, ...] = (0,)  # files of the program: launches_frame.py
    arguments: tuple[str, ...] = ()  # of the program


PLAIN = Level(["-polly-acc-agg=off"])
LEVELS = {
    "warp": Level(["-polly-acc-agg=warp"]),
    "block": Level(["-polly-acc-agg=block"]),
    "grid": Level(["-polly-acc-agg=grid"]),
    "auto": Level(["-polly-acc-agg"]),
    "small-pool": Level(["-polly-acc-agg", "-polly-acc-agg-pool=1M"]),
    "two-files": Level(["-polly-acc-agg", "-polly-acc-agg-other-files"], (1, 2)),
    "few-wait": Level(["-polly-acc-agg"], arguments=("1024",)),
}
# Lines about failures that are printed.
MOST_LINES = 40
DEVICES = {"cpu": ["--device=cpu"], "cuda": []}  # flags of the wrapper


def compile_program(
    args: argparse.Namespace, source: Path, device: str, name: str, level: Level
) -> Path:
    """Compiles a program; a failure is an error with the compiler's words."""
    program = source.with_suffix(f".{device}.{name}")
    files = []
    for part in level.parts:
        files.append(program.with_suffix(f"{program.suffix}.{part}.cu"))
        files[-1].write_text(f"#define PART {part}\n#include \"{source}\"\n", encoding="utf-8")
    flags = [word for option in level.flags for word in ["-mllvm", option]]
    command = [
        str(args.build / "bin" / "polly-acc-clang++"), *DEVICES[device], "-std=c++17",
        "-w", args.optimise, *args.flag, *flags, *map(str, files), "-o", str(program),
    ]  # fmt: skip
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=1800, check=False)
    except subprocess.TimeoutExpired as stopped:
        raise RuntimeError(str(stopped)) from stopped
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}\n{done.stderr[-3000:]}")
    return program


def run_program(command: list[str], order: int, limit: int) -> dict[str, str]:
    """What each case printed, by its seed. A case that did not end is missing."""
    environment = {**os.environ, "PACC_CPU_SEED": str(order)}
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=limit, check=False, env=environment
        )
        output = done.stdout
        words = done.stderr[-1000:] or f"status {done.returncode}: {output[-200:]}"
    except subprocess.TimeoutExpired as stopped:
        output, words = (stopped.stdout or b"").decode(), f"no end within {limit} s"
    results = {}
    for line in output.splitlines():
        seed, _, sums = line.partition(" ")
        results[seed] = sums
    results["words"] = words
    return results


def compare(
    args: argparse.Namespace, seeds: list[int], name: str, expected: dict[str, str],
    command: list[str],
) -> list[str]:  # fmt: skip
    """What went wrong in a program's cases."""
    wrong = []
    for order in range(args.orders):
        got = run_program(command, order, args.limit)
        for seed in seeds:
            mine, theirs = got.get(str(seed), got["words"]), expected.get(str(seed), "nothing")
            if mine != theirs:
                wrong.append(f"seed {seed}, {name}, order {order}: {mine}, plain: {theirs}")
    return wrong


def check_file(args: argparse.Namespace, folder: Path, seeds: list[int]) -> list[str] | None:
    """Compiles and runs the cases of one file; returns what went wrong, None
    where time is up."""
    if time.monotonic() > args.end:
        return None
    source = folder / f"launches{seeds[0]}.cu"
    source.write_text(launches.program(seeds), encoding="utf-8")
    wrong = []
    try:
        plain = reference = compile_program(args, source, "cpu", "plain", PLAIN)
        if args.device != "cpu":
            plain = compile_program(args, source, args.device, "plain", PLAIN)
        expected = run_program([str(reference)], 0, args.limit)
        wrong += compare(args, seeds, "plain", expected, [str(plain)])
        compiled: dict[str, Path] = {}
        for name in args.levels:
            if time.monotonic() > args.end:
                return wrong or None
            level = LEVELS[name]
            key = f"{level.flags} {level.parts}"
            if key not in compiled:
                compiled[key] = compile_program(args, source, args.device, name, level)
            part = [seed for seed in seeds if not level.arguments or launches.loses_nothing(seed)]
            wrong += compare(args, part, name, expected, [str(compiled[key]), *level.arguments])
    except RuntimeError as error:
        wrong.append(str(error))
    if wrong and args.keep:
        args.keep.mkdir(parents=True, exist_ok=True)
        for seed in seeds:
            if any(f"seed {seed}," in line for line in wrong):
                path = args.keep / f"launches{seed}.cu"
                path.write_text(launches.program([seed]), encoding="utf-8")
    return wrong


def main() -> int:
    """Reads the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=seed_range, default=range(0, 20), metavar="A..B")
    parser.add_argument("--per-file", type=int, default=20)
    parser.add_argument("--build", type=Path, default=ROOT / "build", help="build folder")
    parser.add_argument("--flag", action="append", default=[], help="more flags of clang")
    parser.add_argument("--optimise", default="-O1", help="clang's level")
    parser.add_argument("--levels", nargs="*", choices=LEVELS, default=list(LEVELS))
    parser.add_argument("--orders", type=int, default=5, help="orders of each run")
    parser.add_argument("--limit", type=int, default=120, help="seconds of a run")
    parser.add_argument("--device", default="cpu", choices=DEVICES)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="of the whole run")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--keep", type=Path)
    args = parser.parse_args()
    args.end = time.monotonic() + args.seconds
    seeds = list(args.seeds)
    files = [seeds[i : i + args.per_file] for i in range(0, len(seeds), args.per_file)]
    cases = failures = 0
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(args.jobs) as pool:
        answers = pool.map(lambda part: check_file(args, Path(folder), part), files)
        for part, wrong in zip(files, answers):
            if wrong is None:
                break
            for line in wrong[: max(0, MOST_LINES - failures)]:
                print(line, flush=True)
            failures += len(wrong)
            cases += len(part)
            if cases % 100 < len(part):
                print(f"{cases} cases, {failures} went wrong", flush=True)
    print(
        f"{cases} cases, {len(args.levels)} granularities, {args.orders} orders: "
        f"{failures} went wrong"
    )
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Differential tests of random programs.

  test/fuzz/run.py --build build --seeds 0..99
  test/fuzz/run.py --build build --reduce 42
  test/fuzz/run.py --build build --device cpu cuda --seconds 600 --seeds 0..99999

Every seed is one program. It is compiled by plain clang and with the plugin,
and must print the same on the CPU device in three thread orders, and on the
host; with --device cuda, on a GPU. --seconds starts no more programs after so
long. Failing programs are kept in --keep. The last lines are a summary; the
exit status is 1 if a program failed. --reduce shrinks a failing program while
it fails in the same way, and prints it.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from check import Outcome, Tools, block_flags, check_file
from grow import grow_program
from program import render
from shrink import shrink

ROOT = Path(__file__).resolve().parents[2]


def seed_range(text: str) -> range:
    first, _, last = text.partition("..")
    try:
        return range(int(first), int(last or first) + 1)
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}': expected A..B") from None


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=seed_range, default=range(0, 100), metavar="A..B")
    parser.add_argument("--build", type=Path, default=ROOT / "build", help="build folder")
    parser.add_argument("--clang", default="/usr/lib/llvm-22/bin/clang")
    parser.add_argument("--flag", action="append", default=[], help="more flags of clang")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--compile-limit", type=int, default=30, help="seconds, of one compile")
    parser.add_argument("--orders", type=int, default=3, help="thread orders of each run")
    parser.add_argument("--device", nargs="+", default=["cpu"], choices=["cpu", "cuda"])
    parser.add_argument("--seconds", type=float, default=float("inf"), help="of the whole run")
    parser.add_argument("--keep", type=Path, default=Path("fuzz-failures"))
    parser.add_argument("--reduce", type=int, metavar="SEED")
    parser.add_argument("-v", "--verbose", action="store_true", help="a line per seed")
    parsed = parser.parse_args()
    plugin = parsed.build / "lib" / "PollyACC.so"
    if not plugin.exists():
        parser.error(f"{plugin} does not exist: build first, or give --build")
    if not shutil.which(parsed.clang):
        parser.error(f"{parsed.clang} does not exist: give clang 22 with --clang")
    parsed.build = parsed.build.resolve()
    return parsed


class Runner:
    def __init__(self, args: argparse.Namespace, work: Path):
        self.args = args
        self.work = work
        self.orders = list(range(args.orders))
        self.begin = time.monotonic()

    def check(self, text: str, stem: Path, blocks: list[str]) -> Outcome:
        args = self.args
        path = stem.with_suffix(".c")
        path.write_text(text, encoding="utf-8")
        tools = Tools(args.clang, args.build, blocks + args.flag, args.compile_limit)
        tools.devices = tuple(args.device)
        return check_file(path, stem, tools, self.orders)

    def one(self, seed: int) -> Outcome | None:
        if time.monotonic() - self.begin > self.args.seconds:
            return None
        stem = self.work / f"seed{seed}"
        outcome = self.check(render(grow_program(seed)), stem, block_flags(seed))
        if outcome.kind != "ok":
            self.args.keep.mkdir(parents=True, exist_ok=True)
            shutil.copy(stem.with_suffix(".c"), self.args.keep)
            print(f"seed {seed}: {outcome.kind}: {outcome.detail}", flush=True)
        elif self.args.verbose:
            print(f"seed {seed}: ok, {outcome.device} regions, {outcome.launches} launches", flush=True)
        for suffix in [".c", ".ref", ".acc", ".csv"]:
            stem.with_suffix(suffix).unlink(missing_ok=True)
        return outcome

    def all(self) -> int:
        total, left, kinds = Counter(), Counter(), Counter()
        with ThreadPoolExecutor(self.args.jobs) as pool:
            for outcome in pool.map(self.one, self.args.seeds):
                if not outcome:
                    continue
                kinds[outcome.kind] += 1
                left += outcome.left
                total["offloaded"] += outcome.offloaded
                total["device"] += outcome.device
                total["launches"] += outcome.launches
                total["programs"] += outcome.device > 0
                if kinds.total() % 100 == 0:
                    print(f"{kinds.total()} programs, {kinds['ok']} as expected", flush=True)
        count, took = kinds.total(), time.monotonic() - self.begin
        print(f"\n{count} programs in {took:.0f} s; {kinds['ok']} as expected")
        for kind, number in kinds.most_common():
            if kind != "ok":
                print(f"  {number} {kind}")
        print(
            f"{total['offloaded']} regions have kernels; {total['programs']} programs "
            f"ran {total['device']} regions and {total['launches']} launches on the device"
        )
        for reason, number in left.most_common():
            print(f"  {number} left alone: {reason}")
        return 0 if kinds["ok"] == count else 1

    def reduce(self, seed: int) -> int:
        program = grow_program(seed)
        blocks = block_flags(seed)
        stem = self.work / "reduce"

        def fails_alike(candidate, kind: str) -> bool:
            return self.check(render(candidate), stem, blocks).kind == kind

        first = self.check(render(program), stem, blocks)
        if first.kind == "ok":
            print(f"seed {seed} does not fail", file=sys.stderr)
            return 1
        print(f"seed {seed}: {first.kind}: {first.detail}", file=sys.stderr)
        small = shrink(program, lambda p: fails_alike(p, first.kind))
        text = render(small)
        again = self.check(text, stem, blocks)
        print(f"/* {again.kind}: {again.detail.replace('*/', '* /')}\n   flags: {' '.join(blocks)} */")
        print(text, end="")
        return 0


def main() -> int:
    args = arguments()
    with tempfile.TemporaryDirectory(prefix="pacc-fuzz-") as work:
        runner = Runner(args, Path(work))
        return runner.all() if args.reduce is None else runner.reduce(args.reduce)


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Shrinks any C file on which the compiler fails, with llvm-reduce.

  test/fuzz/reduce_ir.py --build build failing.c -o small.ll

The IR of clang's front end is reduced while `opt -passes=polly-acc` fails with
the message that it fails with now (a crash, a failed assertion, invalid code,
or more than --limit seconds of processor time). For programs of the generator
whose results differ, `run.py --reduce SEED` knows more.
"""

from __future__ import annotations

import argparse
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

from check import compile_error, execute

ROOT = Path(__file__).resolve().parents[2]
LLVM = Path("/usr/lib/llvm-22/bin")


def failure(args: argparse.Namespace, module: Path) -> str:
    """What goes wrong with a module, or ""."""
    plugin = args.build / "lib" / "PollyACC.so"
    command = [str(args.llvm / "opt"), f"-load-pass-plugin={plugin}"]
    command += [f"-passes={args.passes}", "-disable-output", str(module)]
    status, _, log = execute(command, args.limit)
    if status == 0:
        return ""
    kind, detail = compile_error(status, log, args.limit)
    # Names and numbers change while the module shrinks.
    return kind + ": " + re.sub(r"'[^']*'|%\S+|\d+", "_", detail.partition("\n")[0])


def reduce(args: argparse.Namespace, work: Path) -> int:
    module = work / "in.ll"
    front = [str(args.llvm / "clang"), "-O3", "-fno-math-errno", "-w", *args.flag]
    front += ["-Xclang", "-disable-llvm-passes", "-S", "-emit-llvm"]
    subprocess.run([*front, str(args.source), "-o", str(module)], check=True)
    expected = failure(args, module)
    if not expected:
        print(f"{args.source} does not fail", file=sys.stderr)
        return 1
    print(expected, file=sys.stderr)
    script = work / "interesting.sh"
    again = [sys.executable, __file__, "--build", str(args.build), "--llvm", str(args.llvm)]
    again += ["--passes", args.passes, "--limit", str(args.limit), "--expect", expected]
    script.write_text(f'#!/bin/sh\nexec {shlex.join(again)} "$1"\n', encoding="utf-8")
    script.chmod(0o755)
    tool = [str(args.llvm / "llvm-reduce"), f"--test={script}", str(module)]
    tool += ["-o", str(args.output)]
    return subprocess.run(tool, check=False).returncode


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("source", type=Path)
    parser.add_argument("-o", "--output", type=Path, default=Path("reduced.ll"))
    parser.add_argument("--build", type=Path, default=ROOT / "build", help="build folder")
    parser.add_argument("--llvm", type=Path, default=LLVM, help="folder of LLVM's tools")
    parser.add_argument("--passes", default="polly-acc")
    parser.add_argument("--flag", action="append", default=[], help="more flags of clang")
    parser.add_argument("--limit", type=int, default=10, help="seconds")
    parser.add_argument("--expect", help=argparse.SUPPRESS)
    args = parser.parse_args()
    args.build = args.build.resolve()
    if args.expect is not None:
        return 0 if failure(args, args.source) == args.expect else 1
    with tempfile.TemporaryDirectory(prefix="pacc-reduce-") as work:
        return reduce(args, Path(work))


if __name__ == "__main__":
    sys.exit(main())

"""Fails unless a program does the same with the plugin as without, in three
thread orders of the CPU device and on the host, and (if given) exactly
--regions regions ran on the device. Prints the remarks of the compile."""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "fuzz"))

from check import Tools, check_file  # noqa: E402  (the path comes first)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clang", required=True)
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--regions", type=int)
    parser.add_argument("--plugin-flag", action="append", default=[])
    parser.add_argument("--flag", action="append", default=[], help="of both compiles")
    parser.add_argument("stem", type=Path, help="temporary files are STEM.*")
    parser.add_argument("source", type=Path)
    args = parser.parse_args()
    tools = Tools(args.clang, args.build, args.plugin_flag, both=args.flag)
    outcome = check_file(args.source, args.stem, tools, [0, 1, 2])
    print(outcome.remarks)
    if outcome.kind != "ok":
        print(f"{args.source.name}: {outcome.kind}: {outcome.detail}", file=sys.stderr)
        return 1
    if args.regions is not None and outcome.device != args.regions:
        print(
            f"{args.source.name}: expected {args.regions} regions on the device, "
            f"{outcome.device} ran there\n{outcome.remarks}",
            file=sys.stderr,
        )
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Prints a random affine C program: test/fuzz/generate.py --seed 7 > 7.c"""

import argparse
import sys

from grow import grow_program
from program import render


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, required=True)
    sys.stdout.write(render(grow_program(parser.parse_args().seed)))
    return 0


if __name__ == "__main__":
    sys.exit(main())

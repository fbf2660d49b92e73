#!/usr/bin/env python3
"""Builds and runs benchmark kernels, checks their results, records times.

    run.py run --kernels gemm,atax --datasets LARGE --configs seq,auto,32x8
    run.py build --out bundle ...; bundle/run; run.py collect bundle

`run.py COMMAND --help` describes a command, README.md the whole.
"""

import sys

from runner import cli

if __name__ == "__main__":
    sys.exit(cli.main())

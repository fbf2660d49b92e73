#!/usr/bin/env python3
"""Measures every thread block shape of every kernel, and judges the model.

    sweep.py build --out FOLDER ...; FOLDER/go.sh RESULTS
    sweep.py evaluate RESULTS --build-dir build --name h200-large

The first makes a folder for a machine with a GPU; its go.sh runs each program
once with PACC_SWEEP. The second compiles the kernels again and compares what
the model and the other ways to choose a block would have cost.
"""

import sys

from runner import sweep

if __name__ == "__main__":
    sys.exit(sweep.main())

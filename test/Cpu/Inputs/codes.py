"""Checks that the documentation names every status code of the CPU device."""

import pathlib
import re
import sys

source = pathlib.Path(sys.argv[1])
header = (source / "lib/Cpu/status.h").read_text()
document = (source / "docs/cpu-device.md").read_text()
codes = re.findall(r"^  X\((\w+), \d+\)", header, re.M)
named = set(re.findall(r"PACC_CPU_ERROR_(\w+)", document))
print(f"{len(codes)} codes")
for code in codes:
    if code not in named:
        print(f"not documented: {code}")
for code in sorted(named - set(codes)):
    print(f"no such code: {code}")

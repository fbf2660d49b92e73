"""Checks that environment variables which the code names are in a document."""

import re
import sys
from pathlib import Path

root = Path(sys.argv[1])
sources = [
    p
    for top in ("lib/Runtime", "lib/Cpu", "lib/Model", "tools")
    for p in (root / top).rglob("*.c")
]
names = {
    name: path.relative_to(root)
    for path in sources
    for name in re.findall(r'"(PACC_[A-Z_]+)"', path.read_text())
    if not re.search("_ERROR_|_SUCCESS$", name)  # names of status codes
}
assert names, "no variable found in the sources"
pages = [*root.glob("*.md"), *(root / "docs").rglob("*.md"), *(root / "docs/man").glob("*.in")]
described = set(re.findall(r"\bPACC_[A-Z_]+\b", "\n".join(p.read_text() for p in pages)))
missing = sorted(set(names) - described)
for name in missing:
    print(f"{name}, read in {names[name]}, is in no document")
sys.exit(bool(missing))

"""Checks that relative links of the project's Markdown files lead to files."""

import re
import sys
from pathlib import Path

root = Path(sys.argv[1])
pages = [*root.glob("*.md"), *(root / "docs").rglob("*.md"), *(root / "polybench").rglob("*.md")]
assert pages, "no Markdown file found"
broken = [
    f"{page.relative_to(root)}: {target}"
    for page in pages
    for target in re.findall(r"\]\(([^)#\s]+)", page.read_text())
    if "://" not in target and not (page.parent / target).exists()
]
print("\n".join(broken))
sys.exit(bool(broken))

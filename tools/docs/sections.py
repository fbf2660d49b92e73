"""Text between markers in a Markdown file, and files that are made by a script:
written, or compared with what they should be."""

import re
from pathlib import Path


def replace_section(text, name, body):
    """Puts `body` between `<!-- NAME:begin ... -->` and `<!-- NAME:end -->`."""
    pattern = re.compile(
        rf"(<!-- {re.escape(name)}:begin[^>]*-->\n).*?(<!-- {re.escape(name)}:end -->)",
        re.S,
    )
    if len(pattern.findall(text)) != 1:
        raise SystemExit(f"expected one section between {name}:begin and {name}:end")
    return pattern.sub(lambda match: match[1] + body + match[2], text)


def table(header, rows):
    """A Markdown table of strings."""
    lines = [header, ["---"] * len(header), *rows]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def update(root, contents, check, command):
    """Writes {path below root: text}. With `check` writes nothing, and returns
    1 with a message if a file differs, else 0."""
    stale = []
    for name, text in contents.items():
        path = Path(root) / name
        if not path.exists() or path.read_text() != text:
            stale.append(name)
            if not check:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
    if check and stale:
        print(f"out of date: {', '.join(stale)}; run {command}")
        return 1
    print("up to date" if not stale else f"written: {', '.join(stale)}")
    return 0

#!/usr/bin/env python3
"""Makes the tables of options from include/pacc/options.def: a section of
README.md, docs/options.md, and docs/man/polly-acc.1 (from polly-acc.1.in).

    tools/docs/gen_options.py [--check] [--root DIR]

With --check nothing is written, and the status is 1 if a file is out of date.
"""

import argparse
import re
import sys
from dataclasses import dataclass
from pathlib import Path

import sections

STRING = r'"(?:[^"\\]|\\.)*"'
ENTRY = re.compile(rf"^PACC_((?:AGG_)?(?:FLAG|NUMBER|STRING))\(((?:{STRING}|[^()\"])*)\)", re.M)


@dataclass
class Option:
    name: str
    default: str
    values: str
    text: str

    @property
    def sentence(self):
        """The text with a capital, except for isl's name."""
        return self.text if self.text.startswith("isl ") else self.text[0].upper() + self.text[1:]

    @property
    def parameter(self):
        """The pass and its parameter."""
        name, pass_name = self.name, "polly-acc"
        if name.startswith("agg"):
            name, pass_name = name[len("agg-"):] or "granularity", "polly-acc-agg"
        return f"{pass_name}<{name}={self.values}>" if self.values else f"{pass_name}<{name}>"

    @property
    def clang(self):
        """How clang and opt take it; a flag needs no value."""
        return f"-polly-acc-{self.name}" + (f"={self.values}" if self.values else "")


def arguments(text):
    """Splits a macro's arguments; adjacent string literals are joined."""
    for part in re.findall(rf"(?:\s*{STRING})+|[^,\"]+", text):
        literals = re.findall(STRING, part)
        value = "".join(s[1:-1] for s in literals) if literals else part.strip()
        if value or literals:
            yield value


def parse(text):
    """The options of options.def, in its order."""
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    options = []
    for kind, inside in ENTRY.findall(text):
        fields = list(arguments(inside))
        kind = kind.removeprefix("AGG_")
        if kind == "STRING":
            _, name, default, values, help_text = fields
        else:
            _, name, default, help_text = fields
            values = "" if kind == "FLAG" else "N"
            if kind == "FLAG":
                default = "off" if default == "false" else "on"
        options.append(Option(name, default, values, help_text))
    if len(options) != len(re.findall(r"^PACC_(?:AGG_)?(?:FLAG|NUMBER|STRING)\(", text, re.M)):
        raise SystemExit("options.def: an entry was not understood")
    return options


def code(text):
    return "`" + text.replace("|", r"\|") + "`" if text else ""


def readme_table(options):
    rows = [[code(o.clang), code(o.default), o.text] for o in options]
    return sections.table(["option", "default", "what it does"], rows)


def page(options):
    parts = [
        "# Options of the plugin\n\n"
        "<!-- Made by tools/docs/gen_options.py from include/pacc/options.def. -->\n\n"
        "One table, three spellings: clang and opt take `-mllvm -polly-acc-NAME=VALUE`\n"
        "(opt without `-mllvm`), `polly-acc-clang` takes `-polly-acc-NAME=VALUE`, and the\n"
        "pass takes `polly-acc<NAME=VALUE;...>`. A flag of the pass is `NAME` or\n"
        "`no-NAME`.\n"
    ]
    for o in options:
        parts.append(f"\n## {o.name}\n\n{o.sentence}.\n\n")
        parts.append(f"- on the command line: `{o.clang}`\n")
        parts.append(f"- as a parameter of the pass: `{o.parameter}`\n")
        parts.append(f"- default: {code(o.default) or 'empty'}\n")
    return "".join(parts)


def roff(text):
    return text.replace("\\", "\\e").replace("-", "\\-")


def man_entries(options):
    lines = []
    for o in options:
        default = f" Default: {o.default}." if o.default else ""
        lines.append(f".TP\n.B {roff(o.clang)}\n")
        lines.append(roff(f"{o.sentence}.{default}") + "\n")
    return "".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parents[2])
    options = parser.parse_args()
    root = options.root
    table = parse((root / "include/pacc/options.def").read_text())
    readme = (root / "README.md").read_text()
    manual = (root / "docs/man/polly-acc.1.in").read_text()
    contents = {
        "README.md": sections.replace_section(readme, "options", readme_table(table)),
        "docs/options.md": page(table),
        "docs/man/polly-acc.1": manual.replace("@OPTIONS@\n", man_entries(table)),
    }
    return sections.update(root, contents, options.check, "tools/docs/gen_options.py")


if __name__ == "__main__":
    sys.exit(main())

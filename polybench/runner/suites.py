"""Finds the kernels of a suite, whoever wrote it.

Three layouts are known, by what lies in the suite's folder:

* this project: common/polybench.c, kernels/NAME/NAME.c;
* PolyBench/C 4: utilities/polybench.c, any/folders/NAME/NAME.c;
* PolyBench-ACC: common/polybench.c, OpenMP/any/folders/NAME/NAME.c.

Nothing in a suite's folder is changed.
"""

from dataclasses import dataclass
from pathlib import Path

# The largest last: a list of sizes in the order in which they are to be shown.
DATASETS = ("MINI", "SMALL", "MEDIUM", "STANDARD", "LARGE", "EXTRALARGE")

OWN = Path(__file__).resolve().parents[1]


class SuiteError(Exception):
    """A folder that is no suite, or a kernel it does not have."""


@dataclass(frozen=True)
class Kernel:
    """name; its C file; folders for -I; files to compile with it; whether it
    understands POLYBENCH_RUNS (several runs in one process)."""
    name: str
    source: Path
    includes: tuple
    support: tuple
    repeats: bool


@dataclass(frozen=True)
class Suite:
    """name ("ours", "polybench-c", "polybench-acc"), folder, and its kernels
    as {name: Kernel}."""
    name: str
    folder: Path
    kernels: dict

    def select(self, names):
        """The kernels of the list `names` in the suite's order; all of them
        for ["all"]."""
        if list(names) == ["all"]:
            return list(self.kernels.values())
        unknown = [name for name in names if name not in self.kernels]
        if unknown:
            raise SuiteError(f"no kernel '{unknown[0]}' in {self.folder}: there "
                             f"are {', '.join(self.kernels)}")
        return [kernel for name, kernel in self.kernels.items()
                if name in names]


def _collect(name, folder, top, support, repeats):
    kernels = {}
    for source in sorted(top.glob("**/*.c"), key=lambda path: path.stem):
        if source.stem != source.parent.name or source.parent == folder:
            continue
        kernels[source.stem] = Kernel(source.stem, source,
                                      (support.parent, source.parent),
                                      (support,), repeats)
    if not kernels:
        raise SuiteError(f"{top} has no kernels (files NAME/NAME.c)")
    return Suite(name, folder, kernels)


def find(folder=OWN):
    """The suite in `folder`."""
    folder = Path(folder).resolve()
    if (folder / "kernels").is_dir() and (folder / "common").is_dir():
        return _collect("ours", folder, folder / "kernels",
                        folder / "common" / "polybench.c", True)
    if (folder / "utilities" / "polybench.c").exists():
        return _collect("polybench-c", folder, folder,
                        folder / "utilities" / "polybench.c", False)
    if (folder / "OpenMP").is_dir() and \
            (folder / "common" / "polybench.c").exists():
        return _collect("polybench-acc", folder, folder / "OpenMP",
                        folder / "common" / "polybench.c", False)
    raise SuiteError(f"{folder} is no suite: neither utilities/polybench.c "
                     "(PolyBench/C 4), nor OpenMP/ and common/polybench.c "
                     "(PolyBench-ACC), nor kernels/ and common/")

"""Finds the kernels of a suite, whoever wrote it.

Layouts are known by what lies in the suite's folder:

* this project: common/polybench.c, kernels/NAME/NAME.c;
* PolyBench/C 4: utilities/polybench.c, any/folders/NAME/NAME.c
  (PolyBench-ACC's OpenACC folder is one);
* PolyBench-ACC: common/polybench.c, OpenMP/any/folders/NAME/NAME.c;
* PolyBench-ACC's CUDA folder: utilities/polybenchUtilFuncts.h,
  any/folders/NAME/ANY.cu;
* dynpar: dynpar.h, NAME.cu, and dynpar.py, which knows the programs.

Nothing in a suite's folder is changed.
"""

import importlib.util
from dataclasses import dataclass
from pathlib import Path

# The largest last: a list of sizes in the order in which they are to be shown.
DATASETS = ("MINI", "SMALL", "MEDIUM", "STANDARD", "LARGE", "EXTRALARGE")

OWN = Path(__file__).resolve().parents[1]


class SuiteError(Exception):
    """A folder that is no suite, or a kernel it does not have."""


@dataclass(frozen=True)
class Kernel:
    """name       as in the results
    program    name of the executable; several kernels may share one
    source     its C or CUDA file
    includes   folders for -I
    support    files to compile with it
    repeats    whether it understands POLYBENCH_RUNS (several runs in one
               process)
    recipes    the families of configurations that fit its source
    check      "arrays" if it dumps them, else who compares inside the
               program: a key of selfcheck.READERS
    """
    name: str
    program: str
    source: Path
    includes: tuple = ()
    support: tuple = ()
    repeats: bool = False
    recipes: tuple = ("clang", "gcc", "ppcg")
    check: str = "arrays"

    def arguments(self, _dataset, _config):
        """The program's command line."""
        return []

    def variant_flags(self, _variant, _plugin):
        """Compiler flags of a variant of the source."""
        return []


@dataclass(frozen=True)
class DynparKernel(Kernel):
    """A program of dynpar/ with one of its inputs; `module` is dynpar.py."""
    module: object = None
    inputs: tuple = ()

    def arguments(self, dataset, config):
        index = ("MINI", "LARGE").index(dataset)
        variant = config.partition("@")[0].removeprefix("agg-")
        pending = str(self.module.pending_limit(variant))
        return [*self.inputs[index], "--pending", pending]

    def variant_flags(self, variant, plugin):
        return self.module.variant_flags(variant, plugin)


@dataclass(frozen=True)
class Suite:
    """name ("ours", "polybench-c", "polybench-acc", "dynpar"), folder, its
    kernels as {name: Kernel}, and the datasets that they have."""
    name: str
    folder: Path
    kernels: dict
    datasets: tuple = DATASETS

    def check(self, datasets, configs):
        """Raises SuiteError for a dataset or a configuration that the kernels
        cannot have."""
        for dataset in datasets:
            if dataset not in self.datasets:
                raise SuiteError(f"{self.folder} has no dataset {dataset}: "
                                 f"{', '.join(self.datasets)}")
        fits = next(iter(self.kernels.values())).recipes
        for config in configs:
            if config.recipe not in fits:
                raise SuiteError(f"'{config.name}' does not fit the programs "
                                 f"in {self.folder}")

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


def _collect(name, folder, top, support, suffix=".c", **traits):
    kernels = {}
    for source in sorted(top.glob(f"**/*{suffix}"),
                         key=lambda path: path.parent.name):
        # C files have others beside them. CUDA's are alone, and have names of
        # their own (jacobi-2d-imper/jacobi2D.cu).
        kernel = source.parent.name
        if source.parent != folder and (suffix == ".cu" or
                                        source.stem == kernel):
            kernels[kernel] = Kernel(kernel, kernel, source,
                                     (support.parent, source.parent),
                                     (support,), **traits)
    if not kernels:
        raise SuiteError(f"{top} has no kernels (files NAME/NAME{suffix})")
    return Suite(name, folder, kernels)


def _dynpar(folder):
    spec = importlib.util.spec_from_file_location("dynpar",
                                                  folder / "dynpar.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    kernels = {}
    for program in module.PROGRAMS:
        small, large = (module.program_arguments(program, quick)
                        for quick in (True, False))
        for inputs in zip(small, large):
            name = program
            if "--graph" in inputs[0]:
                name += "-" + inputs[0][inputs[0].index("--graph") + 1]
            kernels[name] = DynparKernel(
                name, program, folder / f"{program}.cu", recipes=("dynpar",),
                check="dynpar", module=module, inputs=inputs)
    return Suite("dynpar", folder, kernels, ("MINI", "LARGE"))


def find(folder=OWN):
    """The suite in `folder`."""
    folder = Path(folder).resolve()
    common, utilities = folder / "common", folder / "utilities"
    if (folder / "kernels").is_dir() and common.is_dir():
        return _collect("ours", folder, folder / "kernels",
                        common / "polybench.c", repeats=True,
                        recipes=("clang", "gcc", "ppcg", "cublas"))
    if (folder / "dynpar.h").exists():
        return _dynpar(folder)
    if (utilities / "polybenchUtilFuncts.h").exists():
        return _collect("polybench-acc", folder, folder,
                        utilities / "polybench.c", ".cu", recipes=("cuda",),
                        check="polybench-acc")
    if (utilities / "polybench.c").exists():
        return _collect("polybench-c", folder, folder,
                        utilities / "polybench.c")
    if (folder / "OpenMP").is_dir() and (common / "polybench.c").exists():
        return _collect("polybench-acc", folder, folder / "OpenMP",
                        common / "polybench.c")
    raise SuiteError(f"{folder} is no suite: neither utilities/polybench.c "
                     "(PolyBench/C 4), nor OpenMP/ and common/polybench.c "
                     "(PolyBench-ACC), nor dynpar.h, nor kernels/ and common/")

"""The named ways to build and run a kernel.

C kernels (this project's, PolyBench/C 4, PolyBench-ACC):

    seq          clang -O3, one core: the original loops and the reference
    omp          clang -O3 with Polly's OpenMP code on all cores
    auto         offloaded, thread blocks chosen by the model
    32x8, ...    offloaded, this thread block for every kernel
    api, paper   offloaded, blocks by the occupancy API or the paper's rule
    sweep        like auto, in code that runs with any block (sweep.py)

Programs with dynamic parallelism (--suite polybench/dynpar):

    plain        launches as CUDA makes them, at their best: per-thread streams
    plain-null   the same in CUDA's default streams
    flat         without dynamic parallelism
    agg-warp, agg-block, agg-grid, agg-auto    launches merged by the plugin

Peers, where the user has them:

    gcc          GCC -O3, one core (--gcc)
    gcc-acc      GCC's OpenACC offload, for sources with its pragmas
    gcc-omp      GCC's OpenMP offload of loops with directives (peers/openmp)
    ppcg         the kernel as PPCG translates it to CUDA (--ppcg)
    cublas       BLAS-like kernels of this project as calls of cuBLAS (--cuda)
    cuda         the CUDA programs of PolyBench-ACC (--suite .../CUDA)

Offloaded and dynamic-parallelism configurations take suffixes: `@cpu`
(generated device code on the CPU device, `@cpu:7` with the seed 7 for the order
of blocks and threads); offloaded ones `@host` (built for offload, but the
original loops run) and `+nofma` (no fused operations, so that results are those
of the CPU bit for bit).
"""

import re
from dataclasses import dataclass, field

# Common to all, so that all have the same floating-point semantics.
COMMON_FLAGS = ("-O3", "-fno-math-errno")


class ConfigError(Exception):
    """A name that is no configuration."""


@dataclass(frozen=True)
class Config:
    """name      as given by the user, and in the results
    build     what of the name the executable depends on: configurations that
              agree in it share one
    recipe    how it is built: a key of recipes.RECIPES
    flags     compiler flags beyond COMMON_FLAGS
    body      the folder of peers/ with files that replace kernels' loops
    libraries linker flags
    offload   built with the plugin
    device    "host", "cuda", "cpu" or "auto": where the kernel is to run
    profiled  the program writes the runtime's profile
    exact     results must be the reference's, bit for bit
    environment  variables of the run
    """
    name: str
    build: str
    recipe: str = "clang"
    flags: tuple = ()
    body: str = ""
    libraries: tuple = ()
    offload: bool = False
    device: str = "host"
    profiled: bool = False
    exact: bool = True
    environment: dict = field(default_factory=dict)


# sm_80: GCC 12 knows nothing newer, and CUDA 13's ptxas nothing as old as its
# default.
_GCC_OFFLOAD = ("-foffload=nvptx-none", "-foffload=-misa=sm_80",
                "-foffload=-lm")

# Those that take no suffixes.
_FIXED = {config.name: config for config in (
    Config("seq", "seq"),
    Config("omp", "omp", flags=("-mllvm", "-polly", "-mllvm",
                                "-polly-parallel"),
           libraries=("-l:libgomp.a", "-lpthread"), exact=False),
    Config("gcc", "gcc", "gcc", ("-ffp-contract=off",)),
    Config("gcc-acc", "gcc-acc", "gcc", ("-fopenacc", *_GCC_OFFLOAD),
           device="cuda", exact=False),
    Config("gcc-omp", "gcc-omp", "gcc", ("-fopenmp", *_GCC_OFFLOAD), "openmp",
           device="cuda", exact=False),
    Config("ppcg", "ppcg", "ppcg", device="cuda", exact=False),
    Config("cublas", "cublas", "cublas", body="cublas", device="cuda",
           exact=False),
    Config("cuda", "cuda", "cuda", device="cuda", exact=False),
)}

# The names that dynpar/ has for its variants.
_VARIANTS = {"plain": "plain", "plain-null": "plain-null", "flat": "flat",
             "agg-warp": "warp", "agg-block": "block", "agg-grid": "grid",
             "agg-auto": "auto"}


def _offload(name, block, nofma, device, environment):
    flags = ["-mllvm", f"-polly-acc-block-size={block}"]
    if nofma:
        flags += ["-mllvm", "-polly-acc-fma=off"]
    return Config(name, block + ("+nofma" if nofma else ""),
                  flags=tuple(flags), offload=True, device=device,
                  profiled=device != "host", exact=nofma or device == "host",
                  environment={"PACC_DEVICE": device, **environment})


def _dynpar(name, variant, device, environment):
    return Config(name, variant + ("@cpu" if device == "cpu" else ""),
                  "dynpar", offload=name.startswith("agg-"), device=device,
                  environment=environment)


# Ways to choose a block.
_CHOSEN = ("auto", "api", "paper", "sweep")


def parse(name):
    """The configuration called `name`."""
    match = re.fullmatch(r"([\w-]+)((?:\+\w+)*)(?:@(\w+)(?::(\d+))?)?", name)
    if not match:
        raise ConfigError(f"'{name}' is no configuration")
    base, suffixes, device, seed = match.groups()
    modifiers = suffixes.split("+")[1:]
    offloads = base in _CHOSEN or _is_shape(base)
    if not offloads and base not in _VARIANTS and base not in _FIXED:
        known = [*_FIXED, *_CHOSEN, *_VARIANTS]
        raise ConfigError(f"'{name}' is no configuration: {', '.join(known)}, "
                          "or a block such as 32x8")
    if base in _FIXED and (modifiers or device):
        raise ConfigError(f"'{name}': '{base}' takes no suffixes")
    for modifier in modifiers:
        if modifier != "nofma" or not offloads:
            raise ConfigError(f"'{name}': no suffix '+{modifier}'" +
                              (": only +nofma" if offloads else ""))
    devices = ("cuda", "cpu") + (("auto", "host") if offloads else ())
    if device not in (None, *devices):
        raise ConfigError(f"'{name}': unknown device '@{device}': "
                          f"{', '.join(devices)}")
    if seed and device != "cpu":
        raise ConfigError(f"'{name}': only @cpu has a seed")
    environment = {"PACC_CPU_SEED": seed} if seed else {}
    if base in _FIXED:
        return _FIXED[base]
    if offloads:
        return _offload(name, base, bool(modifiers), device or "cuda",
                        environment)
    return _dynpar(name, _VARIANTS[base], device or "cuda", environment)


def _is_shape(text):
    match = re.fullmatch(r"(\d+)(?:x(\d+))?(?:x(\d+))?", text)
    if not match:
        return False
    x, y, z = (int(part or 1) for part in match.groups())
    if not (1 <= x * y * z <= 1024 and z <= 64 and x >= 1 and y >= 1):
        raise ConfigError(f"'{text}' is no thread block: it has {x * y * z} "
                          "threads, and 1 to 1024 are possible (z: to 64)")
    return True

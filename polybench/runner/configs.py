"""The named ways to build and run a kernel.

    seq          clang -O3, one core: the original loops and the reference
    omp          clang -O3 with Polly's OpenMP code on all cores
    auto         offloaded, thread blocks chosen by the model
    32x8, ...    offloaded, this thread block for every kernel
    api, paper   offloaded, blocks by the occupancy API or the paper's rule

An offloaded configuration takes suffixes: `+nofma` (no fused operations, so
that results are those of the CPU bit for bit), `@cpu` (generated device code
on the CPU device), `@host` (built for offload, but the original loops run).
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
    flags     compiler flags beyond COMMON_FLAGS
    libraries linker flags
    offload   built with the plugin and the runtime
    device    "host", "cuda" or "cpu": where the kernel is to run
    exact     results must be the reference's, bit for bit
    environment  variables of the run
    """
    name: str
    build: str
    flags: tuple = ()
    libraries: tuple = ()
    offload: bool = False
    device: str = "host"
    exact: bool = True
    environment: dict = field(default_factory=dict)


def _offload(name, block, nofma, device):
    flags = ["-mllvm", f"-polly-acc-block-size={block}"]
    if nofma:
        flags += ["-mllvm", "-polly-acc-fma=off"]
    build = block + ("+nofma" if nofma else "")
    return Config(name, build, tuple(flags), offload=True, device=device,
                  exact=nofma or device == "host",
                  environment={"PACC_DEVICE": device})


def parse(name):
    """The configuration called `name`."""
    match = re.fullmatch(r"([\w-]+)((?:\+\w+)*)(?:@(\w+))?", name)
    if not match:
        raise ConfigError(f"'{name}' is no configuration")
    base, suffixes, device = match.groups()
    modifiers = suffixes.split("+")[1:]
    for modifier in modifiers:
        if modifier != "nofma":
            raise ConfigError(f"'{name}': unknown suffix '+{modifier}': only "
                              "+nofma")
    if device not in (None, "cuda", "cpu", "host"):
        raise ConfigError(f"'{name}': unknown device '@{device}': cuda, cpu or "
                          "host")
    if base in ("seq", "omp"):
        if modifiers or device:
            raise ConfigError(f"'{name}': '{base}' takes no suffixes")
        if base == "seq":
            return Config("seq", "seq")
        return Config("omp", "omp",
                      ("-mllvm", "-polly", "-mllvm", "-polly-parallel"),
                      ("-l:libgomp.a", "-lpthread"), exact=False)
    if base in ("auto", "api", "paper") or _is_shape(base):
        return _offload(name, base, bool(modifiers), device or "cuda")
    raise ConfigError(f"'{name}' is no configuration: seq, omp, auto, api, "
                      "paper, or a block such as 32x8")


def _is_shape(text):
    match = re.fullmatch(r"(\d+)(?:x(\d+))?(?:x(\d+))?", text)
    if not match:
        return False
    x, y, z = (int(part or 1) for part in match.groups())
    if not (1 <= x * y * z <= 1024 and z <= 64 and x >= 1 and y >= 1):
        raise ConfigError(f"'{text}' is no thread block: it has {x * y * z} "
                          "threads, and 1 to 1024 are possible (z: to 64)")
    return True

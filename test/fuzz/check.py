"""Compiles one program with and without the plugin, runs both, compares.

The offloaded program runs on the host, on the CPU device in several thread
orders and, if asked for, on a GPU; with loops of launches as one kernel, too,
where it has them. All outputs must be those of the original, byte for byte.
"""

from __future__ import annotations

import csv
import os
import re
import signal
import subprocess
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

FLAGS = ["-O3", "-fno-math-errno", "-w"]
# Seconds of processor time; on a busy machine, WAIT times as long.
RUN_LIMIT = 30
WAIT = 10
# Shapes that are no multiple of anything find other faults than the model's.
BLOCKS = ["auto", "auto", "32", "16x8", "7x3", "8x4x2", "1"]


@dataclass
class Tools:
    clang: str
    build: Path  # folder with lib/PollyACC.so
    more: list[str] = field(default_factory=list)  # flags of the plugin's compile
    compile_limit: int = 30  # seconds of processor time
    both: list[str] = field(default_factory=list)  # flags of both compiles
    devices: tuple[str, ...] = ("cpu",)  # of these, values of PACC_DEVICE: cpu, cuda


@dataclass
class Outcome:
    """kind "ok", or what failed. detail: the first thing to look at."""

    kind: str = "ok"
    detail: str = ""
    offloaded: int = 0  # regions with kernels
    left: Counter = field(default_factory=Counter)  # reasons of missed remarks
    device: int = 0  # regions that ran on the device
    launches: int = 0
    remarks: str = ""


def block_flags(seed: int) -> list[str]:
    return ["-mllvm", f"-polly-acc-block-size={BLOCKS[seed % len(BLOCKS)]}"]


def execute(command: list[str], limit: int, env: dict | None = None):
    """status (None: out of time), stdout, stderr."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PACC_")}
    environment |= env or {}
    limited = ["/bin/sh", "-c", f'ulimit -t {limit}; exec "$@"', "sh", *command]
    # In a group of its own, so that no part of the compiler outlives it.
    with subprocess.Popen(
        limited,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
        start_new_session=True,
    ) as process:
        try:
            output, log = process.communicate(timeout=limit * WAIT)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            return None, b"", ""
    ended = process.returncode in (-signal.SIGXCPU, -signal.SIGKILL)
    return None if ended else process.returncode, output, log.decode(errors="replace")


def first_lines(text: str, pattern: str = "") -> str:
    lines = [x for x in text.splitlines() if x.strip() and re.search(pattern, x)]
    return "\n".join(x[:300] for x in lines[:3])


def crash_place(log: str) -> str:
    """The innermost function of the plugin or of Polly in a stack dump."""
    for frame in re.findall(r"^ *#\d+ 0x[0-9a-f]+ (.*)$", log, re.MULTILINE):
        name = re.match(r"((?:pacc|polly)(?:::|_)[\w:~]+)", frame)
        if name:
            return " in " + name[1]
    return ""


def compile_error(status: int | None, log: str, limit: int) -> tuple[str, str]:
    # Clang reports what its compiler proper died of.
    if status is None or re.search(r"unable to execute command: (Killed|CPU time)", log):
        return "compile time", f"over {limit} s"
    for kind, pattern in [
        ("invalid IR", r"invalid (function|module|device code)|does not dominate"),
        ("link error", r"undefined reference|linker command failed"),
        ("assertion", r"Assertion"),
        ("compile crash", r"PLEASE submit a bug report"),
    ]:
        if re.search(pattern, log):
            if kind in ("assertion", "compile crash"):
                kind += crash_place(log)
            return kind, first_lines(log, r"error|Assertion|undefined")
    return "compile error", first_lines(log, "error")


def first_difference(a: bytes, b: bytes) -> str:
    left, right = a.decode().splitlines(), b.decode().splitlines()
    for x, y in zip(left, right):
        if x != y:
            return f"expected '{x}', got '{y}'"
    return f"expected {len(left)} lines, got {len(right)}"


def read_profile(path: Path, outcome: Outcome):
    if not path.exists():
        return
    with open(path, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            outcome.device += row["kind"] == "region" and row["status"] == "ok"
            outcome.launches += row["kind"] == "kernel"


def settings_of(devices: tuple[str, ...], orders: list[int], loops: bool) -> dict[str, dict]:
    """Environments to run the program in, by name. loops: it has loops of
    launches that can be one kernel."""
    found = {"host": {"PACC_DEVICE": "host"}}
    for device in devices:
        for order in orders if device == "cpu" else [0]:
            name = f"cpu, seed {order}" if device == "cpu" else device
            found[name] = {"PACC_DEVICE": device, "PACC_CPU_SEED": str(order)}
        if loops:
            found[f"{device}, loops as kernels"] = {
                "PACC_DEVICE": device,
                "PACC_PERSISTENT": "always",
            }
    return found


def run_all(binary: Path, reference: Path, settings: dict[str, dict], outcome: Outcome):
    """kind and detail of the outcome."""
    status, expected, log = execute([str(reference)], RUN_LIMIT)
    if status != 0:
        return "bad program", f"the original ends with {status}: {first_lines(log)}"
    profile = binary.with_suffix(".csv")
    profile.unlink(missing_ok=True)  # a program without regions writes none
    # The first device counts the regions and launches.
    list(settings.values())[1]["PACC_PROFILE_CSV"] = str(profile)
    for name, env in settings.items():
        status, output, log = execute([str(binary)], RUN_LIMIT, env)
        if status is None:
            return "run time", f"{name}: over {RUN_LIMIT} s"
        if status != 0:
            return "run crash", f"{name}: status {status} {first_lines(log)}"
        if output != expected:
            return "difference", f"{name}: {first_difference(expected, output)} {first_lines(log)}"
        if log.strip():
            kind = "out of bounds" if "out of bounds" in log else "fallback"
            return kind, f"{name}: {first_lines(log)}"
    read_profile(profile, outcome)
    return "ok", ""


def check_file(path: Path, stem: Path, tools: Tools, orders: list[int]) -> Outcome:
    """Leaves STEM.ref, STEM.acc and STEM.csv to the caller."""
    outcome = Outcome()
    reference, binary = stem.with_suffix(".ref"), stem.with_suffix(".acc")
    library = tools.build / "lib"
    command = [tools.clang, *FLAGS, *tools.both, str(path), "-lm"]
    status, _, log = execute([*command, "-o", str(reference)], tools.compile_limit)
    if status != 0:
        outcome.kind, outcome.detail = "bad program", first_lines(log, "error")
        return outcome
    command += [f"-fpass-plugin={library}/PollyACC.so", "-mllvm", "-polly-acc"]
    command += ["-mllvm", "-polly-acc-fma=off", *tools.more]
    command += ["-Rpass=polly-acc", "-Rpass-missed=polly-acc"]
    command += [f"-L{library}", "-lpacc_rt", f"-Wl,-rpath,{library}"]
    status, _, log = execute([*command, "-o", str(binary)], tools.compile_limit)
    if status != 0:
        outcome.kind, outcome.detail = compile_error(status, log, tools.compile_limit)
        return outcome
    outcome.remarks = log
    outcome.offloaded = len(re.findall(r"remark: .*offloaded region", log))
    for reason in re.findall(r"remark: .*not offloaded: (.*) \[", log):
        outcome.left[re.sub(r"'[^']*'|\d+", "...", reason)] += 1
    settings = settings_of(tools.devices, orders, "can run as one kernel" in log)
    outcome.kind, outcome.detail = run_all(binary, reference, settings, outcome)
    return outcome

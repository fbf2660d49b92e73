"""What the results were measured on, and with which code: nothing that names
a person or a network."""

import ctypes
import datetime
import hashlib
import os
import platform
import re
import subprocess


def _output(*command, **options):
    """What a command prints, or "" if it fails."""
    try:
        return subprocess.run(command, capture_output=True, text=True,
                              timeout=60, check=True, **options).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return ""


def commit(folder):
    """The git commit of `folder`; `+` and a hash of the differences follow if
    tracked files that matter differ from it. "unknown" outside a checkout."""
    head = _output("git", "rev-parse", "--short=12", "HEAD", cwd=folder)
    if not head:
        return "unknown"
    changes = _output("git", "diff", "HEAD", "--", ".",
                      ":!polybench/results", ":!docs", cwd=folder)
    if changes:
        head += "+" + hashlib.sha256(changes.encode()).hexdigest()[:8]
    return head


def compiler(path):
    """`22.1.8` for a clang, the first line of --version for another."""
    first = _output(path, "--version").split("\n")[0]
    found = re.search(r"clang version ([\w.]+)", first)
    return found.group(1) if found else first


def cuda_toolkit(folder):
    """The version of the CUDA toolkit in `folder`, or "none"."""
    found = re.search(r"release ([\d.]+)",
                      _output(os.path.join(folder, "bin", "nvcc"),
                              "--version"))
    return found.group(1) if found else "none"


def _cpu():
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as stream:
            found = re.search(r"model name\s*:\s*(.*)", stream.read())
    except OSError:
        found = None
    return found.group(1).strip() if found else platform.machine()


def _cores():
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _cuda_driver_api():
    """The CUDA version that the driver supports, "13.0", or ""."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return ""
    version = ctypes.c_int(0)
    if driver.cuDriverGetVersion(ctypes.byref(version)) != 0:
        return ""
    return f"{version.value // 1000}.{version.value % 1000 // 10}"


def describe():
    """What this machine is: {gpu, driver, driver_cuda, cpu, cores, system}."""
    gpu, driver = "none", "none"
    lines = _output("nvidia-smi", "--query-gpu=name,driver_version",
                    "--format=csv,noheader").splitlines()
    if lines and lines[0].count(",") == 1:
        gpu, driver = (part.strip() for part in lines[0].split(","))
    return {"gpu": gpu, "driver": driver,
            "driver_cuda": _cuda_driver_api() or "none", "cpu": _cpu(),
            "cores": str(_cores()),
            "system": f"{platform.system()} {platform.machine()}"}


def today():
    """The date in UTC, as 2024-05-31."""
    return datetime.datetime.now(datetime.timezone.utc).date().isoformat()

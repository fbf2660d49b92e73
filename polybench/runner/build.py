"""Compiles kernels in configurations, and writes a manifest that says what
was built: all that execute.py needs to know.

An executable takes these variables (common/polybench.c, dump_binary.c):
PB_RUNS, PB_SECONDS, PB_DUMP_FILE, and the runtime's PACC_*.
"""

import hashlib
import json
import os
import re
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from . import configs, machine, metrics, recipes, remarks, suites

MANIFEST_VERSION = 2


class BuildError(Exception):
    """Something that no kernel can be built without is missing."""


@dataclass(frozen=True)
class Toolchain:
    """clang     the compiler
    build     the project's build folder with lib/PollyACC.so and
              lib/libpacc_rt.a; None if no configuration offloads
    source    the project's checkout, for the commit
    cuda      the CUDA toolkit's folder
    arch      the GPU architecture to compile for
    gcc, ppcg   these compilers, "" if there is none
    """
    clang: str
    build: Path = None
    source: Path = suites.OWN.parent
    cuda: str = "/usr/local/cuda"
    arch: str = "sm_90"
    gcc: str = ""
    ppcg: str = ""

    @property
    def plugin(self):
        return self.build / "lib" / "PollyACC.so"

    @property
    def runtime(self):
        return self.build / "lib" / "libpacc_rt.a"

    @property
    def cpu_device(self):
        return self.build.resolve() / "lib" / "libpacc_cpu.so"

    @property
    def wrapper(self):
        return self.build.resolve() / "bin" / "polly-acc-clang++"

    def check(self, chosen):
        """Whether what the configurations `chosen` need is there."""
        if not machine.compiler(self.clang):
            raise BuildError(f"'{self.clang}' does not run: name LLVM 22's "
                             "clang with --clang")
        for config in chosen:
            tool = config.recipe
            if tool in ("gcc", "ppcg") and \
                    not machine.compiler(getattr(self, tool)):
                raise BuildError(f"'{config.name}' needs a {tool} that runs: "
                                 f"name it with --{tool}")
        needed = []
        if any(config.offload for config in chosen):
            needed += [self.plugin, self.runtime]
        if any(config.recipe == "dynpar" and config.device == "cpu"
               for config in chosen):
            needed.append(self.wrapper)
        for path in needed:
            if not path.exists():
                raise BuildError(f"{path} is missing: build the project first "
                                 "(tools/demo and tools/check do), or name "
                                 "its build folder with --build-dir")
        self._check_fresh([path for path in needed
                           if path.parent.name == "lib"])

    def _check_fresh(self, paths):
        """Raises BuildError if ninja would build one of the files anew: results
        would be those of another version, or of two that do not fit."""
        if not paths or not (self.build / "build.ninja").exists() or \
                not shutil.which("ninja"):
            return
        names = [str(path.relative_to(path.parents[1])) for path in paths]
        run = subprocess.run(["ninja", "-C", self.build, "-n", *names],
                             capture_output=True, text=True, timeout=60,
                             check=False)
        if "no work to do" not in run.stdout:
            raise BuildError(f"{self.build} is older than its sources: run "
                             f"ninja -C {self.build}")


@dataclass(frozen=True)
class Job:
    """One kernel with one dataset, type ("default", "double", ...) and
    configuration."""
    kernel: suites.Kernel
    dataset: str
    type: str
    config: configs.Config


def _hash(*parts):
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part if isinstance(part, bytes) else part.encode())
        digest.update(b"\0")
    return digest.hexdigest()


def sizes(clang, job):
    """({"N": 40, ...}, "double"): the sizes and the type that a kernel's
    header has for a dataset, by asking the preprocessor."""
    header = job.kernel.source.with_suffix(".h")
    if not header.exists():
        return {}, ""
    names = sorted(set(re.findall(r"\b_PB_([A-Z]+)\b", header.read_text())))
    text = f'#include "{header}"\n' + "".join(
        f'"size" "{name}" {name}\n' for name in names) + '"type" DATA_TYPE\n'
    run = subprocess.run(
        [clang, "-E", "-P", "-x", "c", *recipes.dataset_flags(job),
         *[f"-I{folder}" for folder in job.kernel.includes], "-"],
        input=text, capture_output=True, text=True, timeout=60, check=False)
    found = {name: int(value) for name, value in
             re.findall(r'"size" "(\w+)" (\d+)', run.stdout)}
    kind = re.search(r'"type" (\w+)', run.stdout)
    return found, kind.group(1) if kind else ""


class Builder:
    """Builds jobs into the folder `out`; what is there already and still fits
    is kept."""

    def __init__(self, toolchain, suite, out, timeout=600):
        self.toolchain = toolchain
        self.suite = suite
        self.out = Path(out)
        self.timeout = timeout
        (self.out / "bin").mkdir(parents=True, exist_ok=True)
        self._digests = {}
        self._sizes = {}

    def _digest(self, path):
        if path not in self._digests:
            self._digests[path] = _hash(Path(path).read_bytes())
        return self._digests[path]

    def _inputs(self, job, more):
        """The files that a program depends on: if one has changed, it is built
        anew."""
        source = job.kernel.source
        return [path for path in (source, source.with_suffix(".h"),
                                  *job.kernel.support,
                                  recipes.COMMON / "dump_binary.c", *more)
                if Path(path).exists()]

    def _support(self):
        """The harness and the dump, compiled once and without the plugin."""
        objects = []
        sources = [recipes.COMMON / "dump_binary.c"]
        sources += {source for kernel in self.suite.kernels.values()
                    for source in kernel.support}
        for source in sources:
            target = self.out / "bin" / f"{source.stem}.o"
            self._run([self.toolchain.clang, "-O2", "-w", "-DPOLYBENCH_TIME",
                       f"-I{source.parent}", "-c", str(source), "-o",
                       str(target)], f"{source} does not compile")
            objects.append(str(target.resolve()))
        return objects

    def _run(self, command, what, folder=None):
        try:
            run = subprocess.run(command, capture_output=True, text=True,
                                 cwd=folder, timeout=self.timeout,
                                 check=False)
        except OSError as error:
            raise BuildError(f"{what}: {error}") from None
        except subprocess.TimeoutExpired:
            raise BuildError(f"{what}: it took more than {self.timeout} "
                             "seconds") from None
        if run.returncode != 0:
            lines = [line for line in run.stderr.splitlines()
                     if "error" in line] or run.stderr.splitlines()[-1:]
            raise BuildError(f"{what}: {lines[0] if lines else 'no message'}")
        return run.stderr

    def _program(self, job, objects):
        """Builds a job's executable; what is known of it, as a dict."""
        name = "-".join([job.kernel.program, job.dataset.lower(), job.type,
                         job.config.build])
        program = (self.out / "bin" / name).resolve()
        notes = program.with_name(name + ".json")
        made = program.with_name(name + ".made")
        known = {"key": "", "path": f"bin/{name}", "error": "",
                 "not_offloaded": [], "seconds": 0.0, "sha256": ""}
        steps, inputs = recipes.RECIPES[job.config.recipe](
            self.toolchain, job, program, objects, made)
        key = _hash(*["\0".join(map(str, step.command)) for step in steps],
                    machine.compiler(steps[0].command[0]),
                    machine.compiler(self.toolchain.clang),
                    *[self._digest(path)
                      for path in self._inputs(job, inputs)])
        if program.exists() and notes.exists():
            before = json.loads(notes.read_text())
            if before["key"] == key:
                return before
        program.unlink(missing_ok=True)
        known["key"] = key
        started = os.times().elapsed
        try:
            if any(step.folder for step in steps):
                made.mkdir(exist_ok=True)
            for step in steps:
                self._run(step.command, "build failed", step.folder)
            known["sha256"] = _hash(program.read_bytes())[:16]
            record = program.with_name(name + recipes.RECORD)
            if record.exists():
                known["not_offloaded"] = [
                    (note.function, note.line, note.reason)
                    for note in remarks.missed(record.read_text())]
                record.unlink()
        except BuildError as error:
            known["error"] = str(error)
        known["seconds"] = round(os.times().elapsed - started, 3)
        notes.write_text(json.dumps(known))
        return known

    def _rates(self):
        """The program that measures a GPU, common/device_rates.cu."""
        program = self.out / "bin" / "device_rates"
        known = {"path": "bin/device_rates", "error": "", "sha256": ""}
        cuda = Path(self.toolchain.cuda)
        if not (cuda / "include" / "cuda_runtime.h").exists():
            known["error"] = f"no CUDA toolkit in {cuda}: name it with --cuda"
            return known
        try:
            self._run([f"{self.toolchain.clang}++", "-O3", "-w",
                       f"--cuda-path={cuda}",
                       f"--cuda-gpu-arch={self.toolchain.arch}",
                       str(recipes.COMMON / "device_rates.cu"), "-o",
                       str(program), f"-L{cuda}/lib64", "-lcudart_static", "-ldl", "-lrt",
                       "-lpthread"], "device_rates.cu does not compile")
            known["sha256"] = _hash(program.read_bytes())[:16]
        except BuildError as error:
            known["error"] = str(error)
        return known

    @staticmethod
    def _configs(job):
        """A job's configuration, and that of its reference."""
        if job.kernel.check == "arrays":
            return (configs.parse("seq"), job.config)
        return (job.config,)

    @staticmethod
    def _unit(job, config):
        """What an executable is known by."""
        return (job.kernel.program, job.dataset, job.type, config.build)

    def build(self, jobs, workers, report=lambda done, total, text: None):
        """Builds all jobs and the references that they are compared with.
        Returns the manifest, and writes it to out/manifest.json."""
        objects = self._support()
        units = {}
        for job in jobs:
            for config in self._configs(job):
                unit = Job(job.kernel, job.dataset, job.type, config)
                units.setdefault(self._unit(job, config), unit)
        programs = {}
        with ThreadPoolExecutor(workers) as pool:
            built = pool.map(lambda unit: self._program(unit, objects),
                             units.values())
            for done, (name, program) in enumerate(zip(units, built), 1):
                programs[name] = program
                report(done, len(units), " ".join(name))
        manifest = {
            "version": MANIFEST_VERSION,
            "suite": self.suite.name,
            "commit": machine.commit(self.toolchain.source),
            "llvm": machine.compiler(self.toolchain.clang),
            "cuda": machine.cuda_toolkit(self.toolchain.cuda),
            "jobs": [self._entry(job, programs) for job in jobs],
        }
        if any(job.config.device in ("cuda", "auto") and
               job.kernel.check == "arrays" for job in jobs):
            manifest["rates"] = self._rates()
        path = self.out / "manifest.json"
        path.write_text(json.dumps(manifest, indent=1) + "\n")
        return manifest

    def _entry(self, job, programs):
        unit = (job.kernel.source, job.dataset, job.type)
        if unit not in self._sizes:
            self._sizes[unit] = sizes(self.toolchain.clang, job)
        found, data_type = self._sizes[unit]
        environment = dict(job.config.environment)
        if job.config.device == "cpu":
            environment["PACC_CPU_LIBRARY"] = str(self.toolchain.cpu_device)
        operations, traffic = \
            metrics.work(job.kernel.name, found, data_type) or (None, None)
        entry = {
            "kernel": job.kernel.name, "dataset": job.dataset,
            "type": data_type or job.type, "config": job.config.name,
            "device": job.config.device, "exact": job.config.exact,
            "profiled": job.config.profiled, "check": job.kernel.check,
            "arguments": job.kernel.arguments(job.dataset, job.config.name),
            "environment": environment,
            "repeats": job.kernel.repeats, "operations": operations,
            "traffic": traffic,
            "program": programs[self._unit(job, job.config)],
        }
        if job.kernel.check == "arrays":
            entry["reference"] = \
                programs[self._unit(job, configs.parse("seq"))]
        return entry

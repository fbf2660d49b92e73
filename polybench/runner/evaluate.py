"""Judges the model for thread blocks: by the results of a sweep, and its
estimate of registers by ptxas.

The time of a choice is that of all launches of a program under it: the time of
each swept launch times the launches that it stands for. The best choice has one
block per kernel, as compiled code has.
"""

import csv
import json
import math
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from . import build, cli, configs, suites

sys.path.insert(0, str(suites.OWN.parent / "tools" / "pacc-report"))
import pacc_record as decisions  # noqa: E402

# What `auto` is compared with; shapes keep their threads on a line.
FIXED = {"32x8": (32, 8, 1), "32x16": (32, 16, 1)}
CHOSEN = ("auto", "api", "paper")


class EvaluationError(Exception):
    """Results that cannot be judged."""


# -- What the compiler decides ------------------------------------------------

def records(options, kernel, dataset, *settings):
    """{kernel name: decision} of a program compiled with -polly-acc-SETTING."""
    toolchain = build.Toolchain(options.clang, Path(options.build_dir),
                                suites.OWN.parent, options.cuda, options.arch)
    with tempfile.TemporaryDirectory() as folder:
        yaml = Path(folder) / "record.yaml"
        command = [toolchain.clang, *configs.COMMON_FLAGS, "-w", "-c",
                   f"-D{dataset}_DATASET",
                   f"-fpass-plugin={toolchain.plugin}", "-mllvm", "-polly-acc",
                   "-mllvm", f"-polly-acc-arch={options.arch}",
                   "-fsave-optimization-record",
                   f"-foptimization-record-file={yaml}",
                   f"-foptimization-record-passes={decisions.PASS}",
                   *[f"-I{include}" for include in kernel.includes],
                   str(kernel.source), "-o", str(Path(folder) / "x.o")]
        for setting in settings:
            command += ["-mllvm", f"-polly-acc-{setting}"]
        run = subprocess.run(command, capture_output=True, text=True,
                             timeout=600, check=False)
        if run.returncode != 0:
            raise EvaluationError(f"{kernel.name} does not compile: "
                                  f"{run.stderr.strip().splitlines()[-1:]}")
        return {one.name: one for one in decisions.read(yaml)}


# -- Registers ----------------------------------------------------------------

def _register_errors(options, kernel):
    exact = records(options, kernel, "LARGE", "ptxas=on")
    estimated = records(options, kernel, "LARGE", "ptxas=off")
    pairs = []
    for name, one in exact.items():
        if not one.candidates:
            continue
        if "(ptxas)" not in one.registers:
            raise EvaluationError("no ptxas was found: set PACC_PTXAS")
        pairs.append((int(one.registers.split()[0]),
                      int(estimated[name].registers.split()[0])))
    return kernel.name, pairs


def _register_row(name, pairs):
    errors = [estimate - exact for exact, estimate in pairs]
    n = len(pairs)
    return {"program": name, "kernels": n,
            "ptxas": f"{sum(exact for exact, _ in pairs) / n:.1f}",
            "estimate": f"{sum(estimate for _, estimate in pairs) / n:.1f}",
            "mean_error": f"{sum(map(abs, errors)) / n:.1f}",
            "worst": f"{max(errors, key=abs):+d}"}


def registers(options):
    """Writes a row per program, and one for all kernels."""
    kernels = suites.find(options.suite).select(options.kernels)
    with ThreadPoolExecutor(options.jobs) as pool:
        found = list(pool.map(lambda one: _register_errors(options, one),
                              kernels))
    found = [(name, pairs) for name, pairs in found if pairs]
    rows = [_register_row(name, pairs) for name, pairs in found]
    rows.append(_register_row("all", [pair for _, pairs in found
                                      for pair in pairs]))
    _write(options.out, rows)
    return 0


# -- Times --------------------------------------------------------------------

@dataclass
class Sample:
    """A swept launch: how many launches it stands for, the microseconds of
    every shape that can run, by the turns in which it was timed, and threads."""
    launches: int
    times: dict
    threads: int = 0

    def fit(self, block):
        """The swept shape that stands for `block`: a smaller one where the
        grid or the registers leave no room for it."""
        block = list(block)
        longest = [max(shape[d] for shape in self.times) for d in range(3)]
        for d in range(3):
            while block[d] > longest[d]:
                block[d] //= 2
        for d in (1, 2, 0):
            while tuple(block) not in self.times and block[d] > 1:
                block[d] //= 2
        return tuple(block)

    def time(self, block, turn):
        """A shape that was too slow for further turns has one."""
        shape = self.fit(block)
        if shape not in self.times:
            # Less than a warp is left: the smallest block.
            shape = min(self.times, key=math.prod)
        turns = self.times[shape]
        return self.launches * turns[min(turn, len(turns) - 1)]


def read_sweep(path):
    """{kernel: [Sample, ...]} of a file that PACC_SWEEP wrote."""
    samples = defaultdict(dict)
    with open(path, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if not row["us"]:
                continue
            # One launch may be sampled again later: with other counts.
            key = (row["x"], row["y"], row["z"], row["launches"])
            sample = samples[row["kernel"]].setdefault(
                key, Sample(int(row["launches"]), {}, math.prod(
                    int(row[d]) for d in "xyz")))
            sample.times[decisions.shape(row["block"])] = tuple(
                map(float, (row.get("turns") or row["us"]).split()))
    return {name: list(found.values()) for name, found in samples.items()}


def _turns(samples):
    return max(len(turns) for sample in samples
               for turns in sample.times.values())


def _shapes(samples):
    return sorted({shape for sample in samples for shape in sample.times})


def total(samples, block, turns=None):
    """Microseconds of all launches: the median of the turns. `block` is a shape
    or tells the shape of a sample."""
    shape = block if callable(block) else lambda sample: block
    return statistics.median(
        sum(sample.time(shape(sample), turn) for sample in samples)
        for turn in turns or range(_turns(samples)))


def by_size(decision, multiprocessors):
    """The shape of a sample under a decision that looks at a launch's size."""
    return lambda sample: decision.block_of(sample.threads / multiprocessors)


def totals(samples):
    """{shape: microseconds of all launches}."""
    return {shape: total(samples, shape) for shape in _shapes(samples)}


def best(samples):
    """Microseconds of all launches with the best shape. Of many shapes that are
    alike, the one that happened to be timed fastest is no better: the shape is
    found without the turn that its time is taken from."""
    count = _turns(samples)
    found = []
    for turn in range(count):
        others = [one for one in range(count) if one != turn] or [turn]
        shape = min(_shapes(samples),
                    key=lambda one, turns=others: total(samples, one, turns))
        found.append(total(samples, shape, [turn]))
    return statistics.median(found)


def line_shape(block, samples):
    """The threads of a fixed shape along the dimensions that a grid has."""
    shapes = [shape for sample in samples for shape in sample.times]
    if all(shape[1] == shape[2] == 1 for shape in shapes):
        return (math.prod(block), 1, 1)
    return block


def _ranks(values):
    order = sorted(range(len(values)), key=values.__getitem__)
    ranks = [0.0] * len(values)
    at = 0
    while at < len(order):
        end = at
        while end + 1 < len(order) and \
                values[order[end + 1]] == values[order[at]]:
            end += 1
        for i in order[at:end + 1]:
            ranks[i] = (at + end) / 2
        at = end + 1
    return ranks


def rank_correlation(left, right):
    """Spearman's; None if one side is all equal."""
    a, b = _ranks(left), _ranks(right)
    mean = (len(a) - 1) / 2
    top = sum((x - mean) * (y - mean) for x, y in zip(a, b))
    bottom = math.sqrt(sum((x - mean) ** 2 for x in a)
                       * sum((y - mean) ** 2 for y in b))
    return top / bottom if bottom else None


@dataclass
class KernelJudgement:
    """Microseconds of all launches with the best block and with each choice,
    how many launches, and the rank correlation of estimate and time over all
    shapes (None where there is nothing to rank)."""
    name: str
    best: float
    spent: dict
    launches: int
    correlation: float

    @property
    def auto(self):
        """What `auto` takes over the best block."""
        return self.spent["auto"] / self.best

    @property
    def is_short(self):
        return self.best < FLOOR * self.launches


@dataclass
class Judgement:
    """Of a program: microseconds with the best blocks, what each choice takes
    over that, the most that `auto` takes over the best of any kernel, the rank
    correlation (the mean over the kernels, by their times), the share of the
    time that is in kernels whose launches take less than FLOOR, and all
    kernels."""
    best: float
    over: dict
    worst: float
    correlation: float
    short: float
    kernels: list


# Microseconds: below, a launch costs more than its kernel, and times of one
# shape scatter by 10%. Such kernels count in the sums, and not as the worst.
FLOOR = 4.0


def judge_kernel(name, samples, choices, multiprocessors):
    measured = totals(samples)
    spent = {}
    for choice, decided in choices.items():
        block = by_size(decided[name], multiprocessors) \
            if isinstance(decided, dict) else line_shape(decided, samples)
        spent[choice] = total(samples, block)
    estimated = {one.shape: one.terms["time"]
                 for one in choices["auto"][name].candidates}
    both = [shape for shape in measured if shape in estimated]
    correlation = rank_correlation([measured[shape] for shape in both],
                                   [estimated[shape] for shape in both]) \
        if len(both) > 2 else None
    return KernelJudgement(name, best(samples), spent,
                           sum(sample.launches for sample in samples),
                           correlation)


def judge(sweep, choices, multiprocessors):
    kernels = [judge_kernel(name, samples, choices, multiprocessors)
               for name, samples in sweep.items()]
    least = sum(one.best for one in kernels)
    ranked = [one for one in kernels if one.correlation is not None]
    weight = sum(one.best for one in ranked)
    return Judgement(
        least,
        {choice: sum(one.spent[choice] for one in kernels) / least
         for choice in choices},
        max([1.0, *(one.auto for one in kernels if not one.is_short)]),
        sum(one.best * one.correlation for one in ranked) / weight
        if weight else None,
        sum(one.best for one in kernels if one.is_short) / least,
        kernels)


# -- The table ----------------------------------------------------------------

def origin(folder):
    """Where the results come from: GPU, driver, compiler, commit, date."""
    folder = Path(folder)
    manifest = json.loads((folder / "manifest.json").read_text())
    gpu, _, driver = (folder / "device.txt").read_text().partition(",")
    day = time.strftime("%Y-%m-%d", time.gmtime(
        (folder / "device.txt").stat().st_mtime))
    return {"gpu": gpu.strip(), "driver": driver.strip(),
            "llvm": manifest["llvm"], "commit": manifest["commit"], "date": day}


def _multiprocessors(folder):
    """Of the GPU, as the runtime says in the programs' logs."""
    for path in sorted(Path(folder).glob("*.log")):
        found = re.search(r"(\d+) multiprocessors", path.read_text())
        if found:
            return int(found[1])
    raise EvaluationError(f"no log in {folder} names the GPU")


def _mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def _programs(options):
    """(kernel, dataset, sweep) of every file of results."""
    suite = suites.find(options.suite)
    chosen = {one.name: one for one in suite.select(options.kernels)}
    found = []
    for path in sorted(Path(options.results).glob("*-sweep.csv")):
        name, dataset = path.name.rsplit("-", 3)[:2]
        if name in chosen and dataset.upper() in options.datasets:
            sweep = read_sweep(path)
            if sweep:
                found.append((chosen[name], dataset.upper(), sweep))
    if not found:
        raise EvaluationError(f"no sweeps of {', '.join(options.datasets)} in "
                              f"{options.results}")
    return found


# Kernels with less of their program's time have no row of their own.
SHOWN = 0.05


def _judge_program(options, program):
    """The row of a program, those of its kernels and of their shapes. `auto` is decided for
    the code that was timed, which runs with any block and may have other
    registers than code for one block."""
    kernel, dataset, sweep = program
    choices = dict(FIXED)
    for mode in CHOSEN:
        size = "sweep" if mode == "auto" else mode
        choices[mode] = records(options, kernel, dataset, f"block-size={size}")
    known = {name: samples for name, samples in sweep.items()
             if name in choices["auto"]}
    found = judge(known, choices, _multiprocessors(options.results))
    row = {"program": kernel.name, "dataset": dataset,
           "kernels": len(known), "best_us": f"{found.best:.1f}",
           **{choice: f"{found.over[choice]:.3f}"
              for choice in (*CHOSEN[:1], *FIXED, *CHOSEN[1:])},
           "worst_kernel": f"{found.worst:.3f}",
           "correlation": "" if found.correlation is None
           else f"{found.correlation:.2f}",
           "short": f"{found.short:.2f}"}
    kernels = [{"program": kernel.name, "dataset": dataset,
                "kernel": one.name,
                "launches": one.launches,
                "best_us": f"{one.best:.1f}",
                "share": f"{one.best / found.best:.2f}",
                **{choice: f"{us / one.best:.3f}"
                   for choice, us in one.spent.items()},
                "correlation": "" if one.correlation is None
                else f"{one.correlation:.2f}"}
               for one in found.kernels if one.best >= SHOWN * found.best]
    shapes = []
    for name, samples in known.items():
        auto = choices["auto"][name]
        estimated = {one.shape: one.terms["time"] for one in auto.candidates}
        for shape, us in totals(samples).items():
            shapes.append({
                "program": kernel.name, "dataset": dataset, "kernel": name,
                "block": decisions.shape_text(shape), "us": f"{us:.1f}",
                "estimate_us": f"{estimated[shape]:.4g}"
                if shape in estimated else "",
                "chosen": "yes" if shape == auto.block else ""})
    return row, kernels, shapes


def _half(programs, name):
    """Every other program, by name, was held out while the model was tuned."""
    return "tuned" if sorted(programs).index(name) % 2 == 0 else "held out"


def evaluate(options):
    programs = _programs(options)
    with ThreadPoolExecutor(options.jobs) as pool:
        judged = list(pool.map(lambda one: _judge_program(options, one),
                               programs))
    rows = [row for row, _, _ in judged]
    names = [one.name for one in
             suites.find(options.suite).select(["all"])]
    for row in rows:
        row["half"] = _half(names, row["program"])
        row.update(origin(options.results))
    means = []
    for dataset in sorted({row["dataset"] for row in rows}, reverse=True):
        for half in ("tuned", "held out", "all"):
            chosen = [row for row in rows if row["dataset"] == dataset
                      and half in (row["half"], "all")]
            if not chosen:
                continue
            mean = {"program": "geometric mean", "dataset": dataset,
                    "half": half}
            for choice in (*CHOSEN, *FIXED):
                mean[choice] = f"{_mean([float(r[choice]) for r in chosen]):.3f}"
            means.append(mean)
            print(dataset, half, *[f"{choice} {mean[choice]}"
                                   for choice in (*CHOSEN, *FIXED)])
    _write(options.out, rows + means)
    if options.per_kernel:
        _write(options.per_kernel,
               [one for _, kernels, _ in judged for one in kernels])
    if options.shapes:
        _write(options.shapes,
               [one for _, _, shapes in judged for one in shapes])
    return 0


def _write(path, rows):
    fields = list(rows[0])
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, fields, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def add_options(parser):
    cli.add_matrix(parser, configurations=False)
    parser.add_argument("results", help="the folder that go.sh wrote")
    parser.add_argument("--out", required=True, metavar="FILE",
                        help="a row per program")
    parser.add_argument("--per-kernel", metavar="FILE",
                        help="a row per kernel that matters in its program")
    parser.add_argument("--shapes", metavar="FILE",
                        help="a row per program, kernel and shape")
    parser.set_defaults(action=evaluate)


def add_register_options(parser):
    cli.add_matrix(parser, configurations=False)
    parser.add_argument("--out", required=True, metavar="FILE",
                        help="a row per program")
    parser.set_defaults(action=registers)

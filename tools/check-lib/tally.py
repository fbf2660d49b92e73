"""Counts what tools/check ran.

Each part leaves DIR/<part>.count, a JSON object with the number that passed
and the names of those that failed or were skipped; `total` adds them up.
"""

import json
import os
import re
import subprocess
import sys
import unittest
import xml.etree.ElementTree as ElementTree
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

PASSED_IN_LIT = {"PASS", "FLAKYPASS", "XFAIL"}
SKIPPED_IN_LIT = {"UNSUPPORTED", "SKIPPED", "EXCLUDED"}


def record(folder, part, passed, failed, skipped, details=""):
    """Writes a part's count, and shows what did not pass."""
    if details:
        print(details.rstrip())
    for name in failed:
        print(f"FAILED: {name}")
    for name in skipped:
        print(f"not run: {name}")
    print(f"{part}: {passed} passed, {len(failed)} failed, {len(skipped)} not run")
    count = {"passed": passed, "failed": failed, "skipped": skipped}
    (folder / f"{part}.count").write_text(json.dumps(count))


def cmocka_count(output):
    """The cases of one cmocka program: how many passed, and the names of the
    failed and of the skipped. None if the program is not cmocka's."""
    if not re.search(r"^\[=+\] .*[Rr]unning \d+ test", output, re.M):
        return None
    names = {
        kind: list(
            dict.fromkeys(
                re.findall(rf"^\[ *{kind} *\] (?!\d+ test)(\w+)", output, re.M)
            )
        )
        for kind in ("OK", "FAILED", "SKIPPED")
    }
    return len(names["OK"]), names["FAILED"], names["SKIPPED"]


def count_ctest(folder):
    """Counts ctest's report: each case of a cmocka program by itself."""
    passed, failed, skipped, details = 0, [], [], []
    report = folder / "unit.xml"
    cases = ElementTree.parse(report).getroot().iter("testcase") if report.exists() else []
    for case in cases:
        name, status = case.get("name"), case.get("status")
        output = case.findtext("system-out") or ""
        inner = cmocka_count(output)
        if inner:
            passed += inner[0]
            failed += [f"unit {name}: {each}" for each in inner[1]]
            skipped += [f"unit {name}: {each}" for each in inner[2]]
        elif status == "run":
            passed += 1
        if status == "fail":
            details.append(output[-6000:])
            if not inner or not inner[1]:
                failed.append(f"unit {name} ({case_message(case)})")
        elif status not in ("run", "fail"):
            skipped.append(f"unit {name} ({status})")
    if not report.exists():
        failed.append("unit: ctest left no report, see check/unit.log")
    record(folder, "unit", passed, failed, skipped, "\n".join(details))


def case_message(case):
    failure = case.find("failure")
    return (failure.get("message") if failure is not None else "") or "failed"


def count_lit(folder):
    passed, failed, skipped, details = 0, [], [], []
    report = folder / "lit.json"
    tests = json.loads(report.read_text())["tests"] if report.exists() else []
    for test in tests:
        code, name = test["code"], test["name"]
        if code in PASSED_IN_LIT:
            passed += 1
        elif code in SKIPPED_IN_LIT:
            reason = re.search(r"unavailable features: (.*)", test["output"] or "")
            skipped.append(f"{name}" + (f" (needs {reason[1]})" if reason else ""))
        else:
            failed.append(f"{name} ({code.lower()})")
            details.append(f"--- {name}\n{(test['output'] or '')[-6000:]}")
    if not report.exists():
        log = folder / "lit.log"
        details.append(log.read_text()[-6000:] if log.exists() else "")
        failed.append("lit: no report, see check/lit.log")
    record(folder, "lit", passed, failed, skipped, "\n".join(details))


class Result(unittest.TextTestResult):
    """Remembers the tests that passed, which unittest does not."""

    passed = 0

    def addSuccess(self, test):
        super().addSuccess(test)
        self.passed += 1


def run_unittest_file(folder, path, report):
    """Runs the Python tests of one file; what came of them goes to FOLDER/REPORT."""
    # A loader remembers its top level folder, so each file has its own.
    start = str(Path(path).parent)
    suite = unittest.TestLoader().discover(start, Path(path).name, top_level_dir=start)
    result = unittest.TextTestRunner(sys.stdout, verbosity=2, resultclass=Result).run(suite)
    (folder / report).write_text(json.dumps({
        "passed": result.passed + len(result.expectedFailures),
        "failed": [t.id() for t, _ in result.failures + result.errors]
        + [t.id() for t in result.unexpectedSuccesses],
        "skipped": [f"{t.id()} ({why})" for t, why in result.skipped],
    }))


def run_unittest(folder, jobs):
    """Runs every Python test of the current folder's project, so many files at once."""
    # The longest first: by their size, the best guess there is.
    paths = sorted(python_tests(Path(".")), key=lambda p: p.stat().st_size, reverse=True)
    reports = [f"python-{index}.json" for index in range(len(paths))]

    def run(path, report):
        return subprocess.run(
            [sys.executable, __file__, "unittest-file", str(folder), str(path), report],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    total = {"passed": 0, "failed": [], "skipped": []}
    with ThreadPoolExecutor(int(jobs)) as pool:
        for path, report, done in zip(paths, reports, pool.map(run, paths, reports)):
            print(f"== {path}\n{done.stdout}", flush=True)
            part = {"failed": [f"{path} (ended early)"]}
            if (folder / report).exists():
                part = json.loads((folder / report).read_text())
            for key, value in part.items():
                total[key] += value
    (folder / "python.json").write_text(json.dumps(total))


def python_tests(root):
    return [p for top in ("polybench", "dynpar", "tools", "test")
            for p in (root / top).rglob("test_*.py")]


def count_python(folder):
    report = folder / "python.json"
    log = (folder / "python.log").read_text()
    if not report.exists():
        record(folder, "python", 0, ["python: the run ended early"], [], log[-6000:])
        return
    count = json.loads(report.read_text())
    record(
        folder, "python", count["passed"], [f"python {n}" for n in count["failed"]],
        [f"python {n}" for n in count["skipped"]], log[-6000:] if count["failed"] else "",
    )


def lint(path, clang_format):
    """The name of the tool that does not like a file; "" if all is well, None for a file
    that none is for."""
    if path.suffix in (".c", ".h", ".cpp"):
        command = [clang_format, "--dry-run", "--Werror", str(path)]
    elif path.suffix == ".sh" or (
        not path.suffix and path.read_bytes().startswith((b"#!/bin/sh", b"#!/usr/bin/env bash"))
    ):
        command = ["bash", "-n", str(path)]
    else:
        return None
    good = subprocess.run(command, capture_output=True).returncode == 0
    return "" if good else os.path.basename(command[0])


def count_lint(folder, root, clang_format):
    """Every C and C++ file of ours is formatted, and every script parses."""
    files = [p for top in ("lib", "include", "tools", "test/unit", "polybench", ".ci")
             for p in sorted((Path(root) / top).rglob("*")) if p.is_file()]
    with ThreadPoolExecutor() as pool:
        found = list(pool.map(lambda path: lint(path, clang_format), files))
    record(folder, "lint", found.count(""), [
        f"lint {path.relative_to(root)} ({tool})" for path, tool in zip(files, found) if tool
    ], [])


def count_demo(folder, status):
    """The demo is one test: it ends well and says that nothing differs."""
    log = (folder / "demo.log").read_text()
    good = status == "0" and re.search(r"^[1-9]\d* values, .* 0 outside", log, re.M)
    failed = [] if good else [f"tools/demo (status {status})"]
    record(folder, "demo", 1 - len(failed), failed, [], "" if good else log[-6000:])


def total(folder):
    counts = [json.loads(p.read_text()) for p in sorted(folder.glob("*.count"))]
    passed = sum(c["passed"] for c in counts)
    failed = [name for c in counts for name in c["failed"]]
    skipped = [name for c in counts for name in c["skipped"]]
    if len(counts) > 1:
        for name in failed:
            print(f"FAILED: {name}")
        if skipped:
            print(f"{len(skipped)} tests were not run on this machine, see above")
    print(f"{passed} passed, {len(failed)} failed")
    return 1 if failed or not passed else 0


def main():
    command, folder = sys.argv[1], Path(sys.argv[2])
    actions = {
        "ctest": count_ctest, "lit": count_lit, "unittest": run_unittest,
        "unittest-file": run_unittest_file,
        "python": count_python, "lint": count_lint, "demo": count_demo, "total": total,
    }
    return actions[command](folder, *sys.argv[3:])


if __name__ == "__main__":
    sys.exit(main())

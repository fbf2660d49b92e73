"""Runs offloaded kernels on the CPU device, from the command line to the
results file, if the project is built: in PACC_BUILD_DIR, or else in build/."""

import csv
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

from support import HAS_CLANG, POLYBENCH

from runner import store

BUILD = Path(os.environ.get("PACC_BUILD_DIR") or POLYBENCH.parent / "build")
PARTS = [BUILD / "lib" / name for name in
         ("PollyACC.so", "libpacc_rt.a", "libpacc_cpu.so")]
# Like compute-sanitizer, with errors in atax.
SANITIZER = """#!/bin/sh
[ "$*" = "--tool racecheck --error-exitcode 99 $5" ] || exit 1
"$5" || exit
echo "========= COMPUTE-SANITIZER"
case $5 in */atax*)
  echo "========= Error: Race reported between two threads"
  echo "========= RACECHECK SUMMARY: 2 hazards displayed (2 errors, 0 warnings)"
  exit 99 ;;
esac
echo "========= RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)"
"""
CUDA = Path(os.environ.get("CUDA_PATH") or "/usr/local/cuda")
CUDA_PARTS = [BUILD / "lib" / "PollyACC.so", BUILD / "lib" / "libpacc_cudart.so",
              BUILD / "bin" / "polly-acc-clang++",
              CUDA / "include" / "cuda_runtime.h"]
KERNELS = ("gemm", "atax", "jacobi-2d", "correlation", "floyd-warshall")


class CommandLine(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)

    def command(self, action, kernels, configs):
        return [sys.executable, str(POLYBENCH / "run.py"), action, "--kernels",
                ",".join(kernels), "--datasets", "MINI", "--configs", configs,
                "--build-dir", str(BUILD)]

    def call(self, *command, status=0):
        run = subprocess.run(command, capture_output=True, text=True,
                             timeout=500, check=False)
        self.assertEqual(run.returncode, status, run.stdout + run.stderr)
        return run.stdout


@unittest.skipUnless(HAS_CLANG and all(part.exists() for part in PARTS),
                     f"needs the project's libraries in {BUILD / 'lib'}")
class Offload(CommandLine):
    kernels = KERNELS

    def command(self, action, configs, *options):
        return [*super().command(action, self.kernels, configs), *options]

    def series(self, configs, results):
        return self.command("run", configs, "--runs", "1", "--work",
                            str(self.folder / "work"), "--results",
                            str(results))

    def check_offloaded(self, row):
        what = (row["kernel"], row["config"], row["message"])
        self.assertEqual(row["status"], "ok", what)
        self.assertEqual(row["differing"], "0", what)
        self.assertGreater(int(row["launches"]), 0, what)
        self.assertGreater(int(row["bytes_out"]), 0, what)
        if row["config"].startswith("32x8") and row["kernel"] == "gemm":
            self.assertIn("32x8x1", row["blocks"], what)

    def test_interrupted_and_resumed(self):
        results = self.folder / "resumed.csv"
        command = self.series("auto+nofma@cpu,32x8+nofma@cpu:3", results)
        process = subprocess.Popen(command, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, text=True)
        try:
            while process.poll() is None and not (
                    results.exists() and results.read_text().count("\n") > 2):
                time.sleep(0.01)
            process.send_signal(signal.SIGINT)
            output = process.communicate(timeout=60)[0]
        finally:
            process.kill()
            process.wait()
        self.assertEqual(process.returncode, 3, output)
        first = store.read(results)
        self.assertLess(len(first), 2 * len(KERNELS))
        self.assertIn(f"{len(first)} of 10 jobs are in", self.call(*command))
        rows = store.read(results)
        self.assertEqual(rows[:len(first)], first)
        self.assertEqual({(row["kernel"], row["config"]) for row in rows},
                         {(kernel, config) for kernel in KERNELS for config in
                          ("auto+nofma@cpu", "32x8+nofma@cpu:3")})
        for row in rows:
            self.check_offloaded(row)

    def test_wrong_result(self):
        results = self.folder / "wrong.csv"
        command = self.series("32x8+nofma@cpu", results)
        self.call(*command)
        # Now gemm is compared with values of which the last is off.
        reference = max((self.folder / "work" / "reference").glob("*.dump"),
                        key=lambda path: b"array C 500" in path.read_bytes())
        data = reference.read_bytes()
        self.addCleanup(reference.write_bytes, data)
        reference.write_bytes(data[:-2] + bytes([data[-2] ^ 1]) + data[-1:])
        results.unlink()
        output = self.call(*command, status=1)
        self.assertIn("4 of 5 jobs have right results", output)
        self.assertIn("wrong: gemm MINI", output)
        for row in store.read(results):
            if row["kernel"] != "gemm":
                self.check_offloaded(row)
                continue
            self.assertEqual((row["status"], row["differing"]), ("wrong", "1"))
            self.assertEqual(row["cold_s"] + row["kernel_ms"], "")

    def test_bundle(self):
        self.kernels = KERNELS[:2]
        out, home = self.folder / "bundle", self.folder / "home.csv"
        left = self.folder / "left.csv"
        self.call(*self.command("build", "seq,auto+nofma@cpu", "--out",
                                str(out), "--left-alone", str(left)))
        self.assertIn("gemm,other,print_array", left.read_text())
        moved = shutil.move(out, self.folder / "moved")
        self.call(sys.executable, "-S", "-E", str(moved / "run"), "--runs",
                  "1", "--references", "2")
        self.call(sys.executable, str(POLYBENCH / "run.py"), "collect",
                  str(moved), "--results", str(home))
        rows = store.read(home)
        self.assertEqual(len(rows), 4)
        for row in rows:
            if row["config"] != "seq":
                self.check_offloaded(row)
        self.check_sanitizer(moved)

    def check_sanitizer(self, bundle):
        tool = self.folder / "bin" / "compute-sanitizer"
        tool.parent.mkdir()
        tool.write_text(SANITIZER)
        tool.chmod(0o755)
        path = os.environ["PATH"]
        self.addCleanup(os.environ.update, PATH=path)
        os.environ["PATH"] = f"{tool.parent}{os.pathsep}{path}"
        command = (sys.executable, "-S", "-E", str(bundle / "run"),
                   "--sanitizer", "racecheck")
        output = self.call(*command, status=1)
        self.assertIn("nothing found in 1 of 2 programs", output)
        with open(bundle / "racecheck.csv", encoding="utf-8") as stream:
            rows = {row["kernel"]: row for row in csv.DictReader(stream)}
        self.assertEqual([(row["status"], row["errors"])
                          for row in (rows["gemm"], rows["atax"])],
                         [("ok", "0"), ("errors", "2")])
        self.assertGreater(int(rows["gemm"]["launches"]), 0)
        self.assertIn("Race reported", rows["atax"]["message"])
        before = (bundle / "results.csv").read_bytes()
        self.call(*command, "--results", str(bundle / "results.csv"), status=2)
        self.assertEqual((bundle / "results.csv").read_bytes(), before)


@unittest.skipUnless(HAS_CLANG and all(part.exists() for part in CUDA_PARTS),
                     "needs " + ", ".join(map(str, CUDA_PARTS)))
class DynamicParallelism(CommandLine):
    """Two programs that launch kernels in kernels."""

    def test_cpu_device(self):
        results = self.folder / "dynpar.csv"
        self.call(*self.command("run", ["bfs-rmat", "mandelbrot"],
                                "plain@cpu,agg-grid@cpu:1"),
                  "--suite", str(POLYBENCH / "dynpar"), "--cuda", str(CUDA),
                  "--runs", "1", "--work", str(self.folder / "work"),
                  "--results", str(results))
        rows = store.read(results)
        self.assertEqual(len(rows), 4)
        for row in rows:
            self.assertEqual(row["status"], "ok", row)
            self.assertGreater(float(row["warm_median_s"]), 0, row)


if __name__ == "__main__":
    unittest.main()

"""The peers' configurations, where what they need is there: with a BLAS of
loops in place of cuBLAS, a script in place of PPCG, and OpenMP's loops for
devices on the host."""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from support import CLANG, HAS_CLANG, POLYBENCH

from runner import store

CUDA = Path(os.environ.get("CUDA_PATH") or "/usr/local/cuda")
PPCG = """#!/bin/sh
# Like ppcg --target=cuda ... x/NAME.c, but the loops stay.
case $1 in --version) echo ppcg; exit ;; esac
for source; do :; done
name=$(basename "$source" .c)
cp "$source" "${name}_host.cu"
echo "__global__ void unused() {}" >"${name}_kernel.cu"
"""
GCC = """#!/bin/sh
# GCC without its offload compiler.
for argument; do
  shift
  case $argument in -foffload*) ;; *) set -- "$@" "$argument" ;; esac
done
exec gcc -foffload=disable "$@"
"""


def bodies(peer):
    """The kernels that a folder of peers/ has."""
    return [path.stem for path in (POLYBENCH / "peers" / peer).glob("*.h")
            if path.stem != peer]


@unittest.skipUnless(HAS_CLANG, f"needs {CLANG}")
class Peers(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def rows(self, *options, status=0):
        results = self.folder / "results.csv"
        run = subprocess.run(
            [sys.executable, str(POLYBENCH / "run.py"), "run", "--datasets",
             "MINI", "--runs", "1", "--clang", CLANG, "--work",
             str(self.folder / "work"), "--results", str(results), *options],
            capture_output=True, text=True, timeout=300, check=False)
        self.assertEqual(run.returncode, status, run.stdout + run.stderr)
        return store.read(results)

    def script(self, name, text):
        path = self.folder / name
        path.write_text(text)
        path.chmod(0o755)
        return path

    @unittest.skipUnless((CUDA / "include" / "cublas_v2.h").exists(),
                         "needs cuBLAS's headers")
    def test_cublas(self):
        toolkit = self.folder / "cuda"
        (toolkit / "lib64").mkdir(parents=True)
        (toolkit / "include").symlink_to(CUDA / "include")
        for name in ("cublas", "cudart"):
            subprocess.run(
                [CLANG, "-O1", "-shared", "-fPIC", "-I", str(CUDA / "include"),
                 str(POLYBENCH / "tests" / "inputs" / "blas_by_loops.c"), "-o",
                 str(toolkit / "lib64" / f"lib{name}.so")], check=True)
        kernels = bodies("cublas")
        rows = self.rows("--kernels", ",".join(kernels), "--configs", "cublas",
                         "--cuda", str(toolkit))
        self.assertEqual({row["kernel"] for row in rows}, set(kernels))
        for row in rows:
            self.assertEqual(row["status"], "ok", row)

    @unittest.skipUnless((CUDA / "include" / "cuda_runtime.h").exists(),
                         "needs a CUDA toolkit")
    def test_ppcg(self):
        ppcg = self.script("ppcg", PPCG)
        rows = self.rows("--kernels", "gemm,trisolv", "--configs", "ppcg",
                         "--ppcg", str(ppcg), "--cuda", str(CUDA))
        self.assertEqual([(row["kernel"], row["status"], row["differing"])
                          for row in rows],
                         [("gemm", "ok", "0"), ("trisolv", "ok", "0")])

    @unittest.skipUnless(shutil.which("gcc"), "needs GCC")
    def test_gcc(self):
        rows = self.rows("--kernels", "gemm", "--configs", "gcc", "--gcc",
                         "gcc")
        self.assertEqual([(row["config"], row["status"]) for row in rows],
                         [("gcc", "ok")])

    @unittest.skipUnless(shutil.which("gcc"), "needs GCC")
    def test_openmp(self):
        kernels = bodies("openmp")
        on_host = GCC.replace("exec gcc", "exec gcc -DPEERS_OPENMP_HOST")
        rows = self.rows("--kernels", ",".join(kernels), "--configs",
                         "gcc-omp", "--gcc", self.script("gcc-host", on_host))
        self.assertEqual({row["kernel"] for row in rows}, set(kernels))
        for row in rows:
            self.assertEqual(row["status"], "ok", row)

    @unittest.skipUnless(shutil.which("gcc"), "needs GCC")
    def test_openmp_without_a_device(self):
        rows = self.rows("--kernels", "gemm", "--configs", "gcc-omp", "--gcc",
                         self.script("gcc-plain", GCC), status=1)
        self.assertEqual([row["status"] for row in rows], ["failed"])
        self.assertIn("OpenMP: no device", rows[0]["message"])

    def test_a_kernel_without_a_peer(self):
        rows = self.rows("--kernels", "durbin,gemm", "--configs", "seq,cublas",
                         "--cuda", "/nonexistent", status=1)
        self.assertEqual([(row["kernel"], row["config"]) for row in rows],
                         [("durbin", "seq"), ("gemm", "seq"),
                          ("gemm", "cublas")])


if __name__ == "__main__":
    unittest.main()

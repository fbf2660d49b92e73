"""Runs offloaded kernels on the CPU device, if the project is built: in
PACC_BUILD_DIR, or else in build/."""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from support import HAS_CLANG, POLYBENCH

from runner import store

BUILD = Path(os.environ.get("PACC_BUILD_DIR") or POLYBENCH.parent / "build")
PARTS = [BUILD / "lib" / name for name in
         ("PollyACC.so", "libpacc_rt.a", "libpacc_cpu.so")]


@unittest.skipUnless(HAS_CLANG and all(part.exists() for part in PARTS),
                     f"needs the project's libraries in {BUILD / 'lib'}")
class Offload(unittest.TestCase):
    KERNELS = ("gemm", "atax", "jacobi-2d", "correlation", "floyd-warshall")

    def test_cpu_device(self):
        with tempfile.TemporaryDirectory() as folder:
            results = Path(folder) / "results.csv"
            run = subprocess.run(
                [sys.executable, str(POLYBENCH / "run.py"), "run",
                 "--kernels", ",".join(self.KERNELS), "--datasets", "MINI",
                 "--configs", "auto+nofma@cpu,32x8+nofma@cpu", "--runs", "1",
                 "--build-dir", str(BUILD), "--work",
                 str(Path(folder) / "work"), "--results", str(results)],
                capture_output=True, text=True, timeout=500, check=False)
            self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
            rows = store.read(results)
        self.assertEqual(len(rows), 2 * len(self.KERNELS))
        for row in rows:
            what = (row["kernel"], row["config"], row["message"])
            self.assertEqual(row["status"], "ok", what)
            self.assertEqual(row["differing"], "0", what)
            self.assertGreater(int(row["launches"]), 0, what)
            self.assertGreater(int(row["bytes_out"]), 0, what)
            if row["config"].startswith("32x8") and row["kernel"] == "gemm":
                self.assertIn("32x8x1", row["blocks"], what)


if __name__ == "__main__":
    unittest.main()

"""Tests of plot.py on made-up results."""

import contextlib
import io
import math
import tempfile
import unittest
from pathlib import Path

import support  # noqa: F401  (the import path)

from runner import store

try:
    import matplotlib  # noqa: F401
    import pandas  # noqa: F401
    HAS_PLOTS = True
except ImportError:
    HAS_PLOTS = False

if HAS_PLOTS:
    import plot
    from plots import (aggregation, blocks, launches, results, roofline,
                       speedup, sweep)

ORIGIN = {name: f"a {name}" for name in store.ORIGIN}


def row(kernel, config, seconds, kernel_ms="", **more):
    return {"suite": "ours", "kernel": kernel, "dataset": "LARGE",
            "type": "double", "config": config, "program": config,
            "status": "ok", "warm_median_s": seconds, "kernel_ms": kernel_ms,
            "operations": 4000000, "traffic": 1000000, **more}


ROWS = [
    row("gemm", "seq", 8.0), row("atax", "seq", 1.0),
    row("gemm", "omp", 4.0),
    row("gemm", "auto", 0.5, 2.0, launches=1),
    row("atax", "auto", 2.0, 40.0, launches=20),
    row("gemm", "32x8", 1.0, 4.0, launches=1),
    row("gemm", "8x32", 1.0, 1.0, launches=1),
    row("gemm", "256x1", 0.01, 0.01, status="wrong"),
    row("copy", "rates", 0.5, suite="device", traffic=1e12, operations=0),
    row("fma", "rates", 1.0, suite="device", traffic=0, operations=2e12),
    row("bfs", "plain", 6.0, suite="dynpar"),
    row("bfs", "agg-grid", 2.0, suite="dynpar"),
]


@unittest.skipUnless(HAS_PLOTS, "needs pandas and matplotlib")
class Plot(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def rows(self, given=None):
        path = self.folder / "results.csv"
        with store.Store(path, ORIGIN) as target:
            for one in given or ROWS:
                target.add(one)
        return results.load([path])

    def test_speedup(self):
        table = speedup.data(self.rows()).loc["LARGE"]
        self.assertEqual(list(table.columns), ["omp", "auto", "32x8"])
        self.assertEqual(table.loc["gemm", "auto"], 16)
        self.assertEqual(table.loc["atax", "auto"], 0.5)
        self.assertTrue(math.isnan(table.loc["atax", "omp"]))
        self.assertAlmostEqual(speedup.geometric_mean(table["auto"]),
                               math.sqrt(8))

    def test_blocks(self):
        rows = self.rows()
        table = blocks.data(rows)
        # By threads, then by x; the wrong result is not there.
        self.assertEqual(list(table.columns), ["8x32", "32x8"])
        self.assertEqual(list(table.loc[("LARGE", "gemm")]), [1, 4])
        self.assertEqual(blocks.automatic(rows, table)[("LARGE", "gemm")], 2)

    def test_roofline(self):
        table = roofline.data(self.rows()).set_index("kernel")
        self.assertEqual(table.loc["gemm", "intensity"], 4)
        self.assertEqual(table.loc["gemm", "gflops"], 2)
        # 4e6 operations at 2e12/s and 1e6 bytes at 2e12/s: 2 us of 2 ms.
        self.assertAlmostEqual(table.loc["gemm", "share"], 1e-3)
        without = [one for one in ROWS if one["suite"] != "device"]
        (self.folder / "results.csv").unlink()
        self.assertTrue(roofline.data(self.rows(without)).empty)

    def test_launches(self):
        table = launches.data(self.rows()).set_index("kernel")
        self.assertEqual(list(table.loc["atax", ["launches", "ms"]]),
                         [20, 2000])

    def test_aggregation(self):
        table = aggregation.data(self.rows())
        self.assertEqual(table.loc["bfs", "agg-grid"], 3)

    def test_aggregation_from_dynpar(self):
        path = self.folder / "dynpar.csv"
        path.write_text(
            "program,variant,size,graph,median_ms,least_ms,result\n"
            "bfs,plain,2000,rmat,6.0,5.0,ok\nbfs,grid,2000,rmat,2.0,2.0,ok\n"
            "bfs,plain,2000,road,8.0,5.0,ok\nbfs,flat,2000,road,2.0,2.0,ok\n"
            "bt,plain,2000,rmat,8.0,5.0,ok\nbt,warp,2000,rmat,2.0,2.0,wrong\n")
        table = aggregation.data(results.load([path]))
        self.assertEqual(table.loc["bfs-rmat", "agg-grid"], 3)
        self.assertEqual(table.loc["bfs-road", "flat"], 4)
        self.assertNotIn("bt", table.index)

    def sweep_file(self):
        path = self.folder / "sweep.csv"
        path.write_text(
            "program,dataset,kernel,block,us,estimate_us,chosen\n"
            "gemm,LARGE,k0,32x1,2,9,\ngemm,LARGE,k0,64x1,1,9,yes\n"
            "gemm,LARGE,k1,32x1,20,2,yes\ngemm,LARGE,k1,64x1,10,4,\n"
            "gemm,SMALL,k1,32x1,1,2,yes\ngemm,SMALL,k1,64x1,3,4,\n")
        return path

    def test_sweep(self):
        table = sweep.data(results.load([self.sweep_file()]))
        table = table.set_index("block")
        self.assertEqual(set(table["dataset"]), {"LARGE"})
        self.assertEqual(list(table.loc["32x1", ["measured", "estimated"]]),
                         [2, 1])
        self.assertEqual(list(table["chosen"]), [True, False])

    def test_last_row_counts(self):
        again = row("gemm", "auto", 0.25, 1.0, program="newer")
        rows = self.rows(ROWS + [again])
        self.assertEqual(speedup.data(rows).loc[("LARGE", "gemm"), "auto"],
                         32)

    def run_script(self, *options):
        output = io.StringIO()
        with contextlib.redirect_stdout(output), \
                contextlib.redirect_stderr(output):
            status = plot.main([*map(str, options), "--out",
                                str(self.folder / "plots")])
        return status, output.getvalue()

    def test_files(self):
        self.rows()
        status, output = self.run_script(self.folder / "results.csv",
                                         self.sweep_file())
        self.assertEqual(status, 0, output)
        for name in plot.FIGURES:
            picture = self.folder / "plots" / f"{name}.png"
            self.assertGreater(picture.stat().st_size, 5000, name)
            self.assertIn("</svg>",
                          picture.with_suffix(".svg").read_text())

    def test_same_input_same_picture(self):
        self.rows()
        pictures = []
        for _ in range(2):
            self.run_script(self.folder / "results.csv", "--figures", "blocks")
            pictures.append((self.folder / "plots" / "blocks.svg")
                            .read_bytes())
        self.assertEqual(*pictures)

    def test_nothing_to_show(self):
        self.rows([row("gemm", "seq", 8.0)])
        status, output = self.run_script(self.folder / "results.csv")
        self.assertEqual(status, 1)
        self.assertIn("blocks: nothing to show", output)

    def test_no_results(self):
        status, output = self.run_script(self.folder / "none.csv")
        self.assertEqual(status, 2)
        self.assertIn("none.csv", output)


if __name__ == "__main__":
    unittest.main()

"""Tests of the runner's parts that need no compiler."""

import io
import tempfile
import unittest
from pathlib import Path

from support import POLYBENCH, make_suite

from runner import (configs, machine, metrics, profile, progress, recipes,
                    remarks, selfcheck, store, suites)

PROFILE = """\
kind,name,label,thread,start_us,duration_us,bytes,grid,block,status
copy-in,A,,1,10.0,5.0,800,,,ok
kernel,init_array_scop0_kernel0,,1,16.0,2.0,0,4x1x1,32x8x1,ok
region,init_array_scop0,,1,1.0,90.0,0,,,ok
copy-in,A,,1,110.0,50.0,800,,,ok
kernel,kernel_x_scop0_kernel0,,1,160.0,20.0,0,4x1x1,32x8x1,ok
region,kernel_x_scop0,,1,101.0,100.0,0,,,ok
load,x.c,,1,302.0,1.0,0,,,ok
copy-in,A,,1,310.0,40.0,800,,,ok
kernel,kernel_x_scop0_kernel0,,1,360.0,1500.0,0,4x1x1,64x1x1,ok
kernel,kernel_x_scop0_kernel1,,1,1870.0,500.0,0,4x1x1,32x8x1,ok
kernel,kernel_x_scop0_kernel1,,1,2400.0,250.0,0,4x1x1,32x8x1,ok
copy-out,A,,1,2700.0,30.0,400,,,ok
write-back,A,,1,2740.0,7.0,400,,,ok
region,kernel_x_scop0,,1,301.0,2500.0,0,,,ok
kernel,other,,2,400.0,9999.0,0,4x1x1,8x8x1,ok
"""


class Configs(unittest.TestCase):

    def test_offload(self):
        config = configs.parse("32x8+nofma@cpu")
        self.assertTrue(config.offload and config.exact)
        self.assertEqual(config.device, "cpu")
        self.assertEqual(config.environment, {"PACC_DEVICE": "cpu"})
        self.assertIn("-polly-acc-block-size=32x8", config.flags)
        self.assertIn("-polly-acc-fma=off", config.flags)
        self.assertEqual(config.build, configs.parse("32x8+nofma").build)
        self.assertNotEqual(config.build, configs.parse("32x8").build)
        self.assertFalse(configs.parse("auto").exact)
        self.assertEqual(configs.parse("auto").device, "cuda")

    def test_host(self):
        self.assertFalse(configs.parse("seq").offload)
        self.assertEqual(configs.parse("seq").device, "host")

    def test_device(self):
        for device in ("cuda", "auto", "host"):
            config = configs.parse(f"auto@{device}")
            self.assertEqual(config.environment, {"PACC_DEVICE": device})
            self.assertEqual(config.profiled, device != "host")

    def test_seed(self):
        config = configs.parse("auto@cpu:7")
        self.assertEqual(config.environment,
                         {"PACC_DEVICE": "cpu", "PACC_CPU_SEED": "7"})
        self.assertEqual(config.build, configs.parse("auto@cpu").build)

    def test_dynamic_parallelism(self):
        config = configs.parse("agg-grid@cpu:2")
        self.assertEqual((config.recipe, config.device, config.offload),
                         ("dynpar", "cpu", True))
        self.assertEqual(config.environment, {"PACC_CPU_SEED": "2"})
        self.assertNotEqual(config.build, configs.parse("agg-grid").build)
        self.assertFalse(configs.parse("plain").offload)

    def test_every_recipe_is_used(self):
        names = ("seq", "gcc-acc", "ppcg", "cublas", "cuda", "plain")
        self.assertEqual({configs.parse(name).recipe for name in names},
                         set(recipes.RECIPES))

    def test_unknown(self):
        for name in ("fast", "", "32x", "auto+fma", "auto@tpu", "seq@cuda",
                     "omp+nofma", "64x32", "1x1x65", "0x4", "auto auto",
                     "auto@cuda:1", "plain+nofma", "plain@host", "ppcg@cpu"):
            with self.assertRaises(configs.ConfigError, msg=name):
                configs.parse(name)


class Suites(unittest.TestCase):

    def test_own(self):
        suite = suites.find()
        self.assertEqual(len(suite.kernels), 30)
        self.assertEqual([kernel.name for kernel in
                          suite.select(["gemm", "2mm"])], ["2mm", "gemm"])
        with self.assertRaisesRegex(suites.SuiteError, "gem"):
            suite.select(["gem"])

    def test_polybench_c(self):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "utilities").mkdir()
            (folder / "utilities" / "polybench.c").touch()
            (folder / "utilities" / "template.c").touch()
            kernel = folder / "linear-algebra" / "blas" / "gemm"
            kernel.mkdir(parents=True)
            (kernel / "gemm.c").touch()
            (kernel / "gemm.orig.c").touch()
            suite = suites.find(folder)
            self.assertEqual(suite.name, "polybench-c")
            self.assertEqual(list(suite.kernels), ["gemm"])
            self.assertFalse(suite.kernels["gemm"].repeats)

    def test_dynpar(self):
        suite = suites.find(POLYBENCH / "dynpar")
        self.assertIn("bfs-road", suite.kernels)
        bfs = suite.kernels["bfs-road"]
        self.assertEqual((bfs.program, bfs.source.name), ("bfs", "bfs.cu"))
        self.assertIn("road", bfs.arguments("MINI", "agg-grid"))
        self.assertIn("--pending", bfs.arguments("MINI", "plain"))
        self.assertNotEqual(bfs.arguments("MINI", "flat"),
                            bfs.arguments("LARGE", "flat"))
        self.assertIn("-DDYNPAR_FLAT", bfs.variant_flags("flat", "p.so"))

    def test_what_does_not_fit(self):
        own = suites.find()
        own.check(["MINI"], [configs.parse("cublas")])
        with self.assertRaisesRegex(suites.SuiteError, "agg-grid"):
            own.check(["MINI"], [configs.parse("agg-grid")])
        dynpar = suites.find(POLYBENCH / "dynpar")
        with self.assertRaisesRegex(suites.SuiteError, "seq"):
            dynpar.check(["MINI"], [configs.parse("seq")])
        with self.assertRaisesRegex(suites.SuiteError, "SMALL"):
            dynpar.check(["SMALL"], [configs.parse("plain")])

    def test_polybench_acc_cuda(self):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            kernel = folder / "stencils" / "fdtd-2d"
            kernel.mkdir(parents=True)
            (folder / "utilities").mkdir()
            (folder / "utilities" / "polybenchUtilFuncts.h").touch()
            (kernel / "fdtd2d.cu").touch()
            suite = suites.find(folder)
            self.assertEqual(list(suite.kernels), ["fdtd-2d"])
            self.assertEqual(suite.kernels["fdtd-2d"].recipes, ("cuda",))

    def test_other_folders(self):
        with tempfile.TemporaryDirectory() as folder:
            with self.assertRaisesRegex(suites.SuiteError, "is no suite"):
                suites.find(folder)
            self.assertEqual(list(suites.find(make_suite(
                Path(folder) / "s")).kernels), ["one", "two"])


class Metrics(unittest.TestCase):

    def test_every_kernel_has_work(self):
        sizes = dict.fromkeys(
            "M N NI NJ NK NL NM NQ NR NP NX NY TMAX TSTEPS W H".split(), 100)
        for name in suites.find().kernels:
            operations, traffic = metrics.work(name, sizes, "double")
            self.assertGreater(operations, 0, name)
            self.assertGreaterEqual(traffic, 8 * 100, name)

    def test_values(self):
        self.assertEqual(metrics.work("gemm", {"NI": 2, "NJ": 3, "NK": 4},
                                      "float"),
                         (2 * 24 + 6, 4 * (8 + 12 + 6 + 6)))
        self.assertIsNone(metrics.work("gemm", {"N": 1}, "double"))
        self.assertIsNone(metrics.work("other", {"N": 1}, "double"))

    def test_bound(self):
        rates = {"flops": 100.0, "bandwidth": 10.0}
        self.assertEqual(metrics.bound_seconds(1000, 10, rates), 10)
        self.assertEqual(metrics.bound_seconds(100, 200, rates), 20)


class ReadProfile(unittest.TestCase):

    def read(self, text, runs):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "profile.csv"
            path.write_text(text)
            return profile.read(path, runs)

    def test_last_run(self):
        seen = self.read(PROFILE, 2)
        self.assertEqual((seen.regions, seen.fallbacks, seen.launches),
                         (1, 0, 3))
        self.assertAlmostEqual(seen.kernel, 2.25)
        self.assertAlmostEqual(seen.copy_in, 0.04)
        self.assertAlmostEqual(seen.copy_out, 0.03)
        self.assertAlmostEqual(seen.write_back, 0.007)
        self.assertAlmostEqual(seen.region, 2.5)
        self.assertEqual((seen.bytes_in, seen.bytes_out), (800, 400))
        self.assertEqual(seen.blocks, "32x8x1;64x1x1")

    def test_one_run_has_all_regions_of_kernels(self):
        seen = self.read(PROFILE, 1)
        self.assertEqual((seen.regions, seen.launches), (2, 4))

    def test_fallback(self):
        text = PROFILE.replace("301.0,2500.0,0,,,ok", "301.0,2500.0,0,,,"
                               "fallback")
        seen = self.read(text, 2)
        self.assertEqual((seen.regions, seen.fallbacks), (0, 1))

    def test_empty(self):
        self.assertEqual(self.read(PROFILE.split("\n", maxsplit=1)[0] + "\n",
                                   2).launches, 0)


RECORD = """\
--- !Passed
Pass:            polly-acc
Name:            Offloaded
Function:        kernel_x
Args:
  - String:          'offloaded region '
...
--- !Missed
Pass:            polly-acc
Name:            NotAffine
DebugLoc:        { File: 'x/y.c',
                   Line: 16, Column: 3 }
Function:        print_array
Args:
  - String:          'loop nest not offloaded: it''s '
  - Count:           12
  - String:          ' and'
...
--- !Missed
Pass:            polly-acc
Name:            NotAffine
Function:        kernel_x
Args:
  - String:          'goes
      on'
...
"""


class Remarks(unittest.TestCase):

    def test_missed(self):
        self.assertEqual(
            [(note.function, note.line, note.reason)
             for note in remarks.missed(RECORD)],
            [("kernel_x", 0, "goes on"),
             ("print_array", 16, "loop nest not offloaded: it's 12 and")])
        self.assertEqual(remarks.missed(""), [])

    def test_write(self):
        program = {"not_offloaded": [["f", 3, "a, b"], ["kernel_x", 0, "c"]]}
        jobs = [{"kernel": kernel, "program": program}
                for kernel in ("x", "y", "x")]
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "left.csv"
            remarks.write(path, {"commit": "c", "suite": "s", "jobs": jobs})
            self.assertEqual(path.read_text().splitlines()[1:],
                             ['c,s,x,other,f,3,"a, b"',
                              "c,s,x,kernel,kernel_x,0,c",
                              'c,s,y,other,f,3,"a, b"',
                              "c,s,y,kernel,kernel_x,0,c"])


class SelfCheck(unittest.TestCase):

    def test_dynpar(self):
        row = selfcheck.dynpar("warning\nbfs,grid,2000,rmat,1.5000,1.25,ok\n")
        self.assertEqual(row["status"], "ok")
        self.assertEqual(float(row["warm_median_s"]), 0.0015)
        self.assertEqual(float(row["warm_min_s"]), 0.00125)
        wrong = selfcheck.dynpar("bfs,grid,2000,rmat,1.5,1.25,wrong\n")
        self.assertEqual(wrong["status"], "wrong")
        self.assertNotIn("warm_median_s", wrong)
        for output in ("", "bfs,grid,2000,rmat,1.5,1.25,perhaps\n"):
            with self.assertRaises(selfcheck.NoResult):
                selfcheck.dynpar(output)

    def test_polybench_acc(self):
        output = ("GPU Time in seconds:\n0.002\nCPU Time in seconds:\n1.0\n"
                  "Non-Matching CPU-GPU Outputs Beyond Error Threshold of "
                  "0.05 Percent: 0\n")
        row = selfcheck.polybench_acc(output)
        self.assertEqual((row["status"], float(row["kernel_ms"])), ("ok", 2))
        wrong = selfcheck.polybench_acc(output.replace(": 0\n", ": 7\n"))
        self.assertEqual(wrong["status"], "wrong")
        self.assertIn("7 values", wrong["message"])
        with self.assertRaises(selfcheck.NoResult):
            selfcheck.polybench_acc(output[:30])


class ShowProgress(unittest.TestCase):

    def test_time_left(self):
        now = [100.0]
        stream = io.StringIO()
        bar = progress.Progress([1, 3], stream, lambda: now[0])
        self.assertIsNone(bar.remaining())
        now[0] = 110.0
        bar.step(1, "first")
        self.assertEqual(bar.remaining(), 30)
        bar.step(3, "second", failed=True)
        self.assertEqual(bar.remaining(), 0)
        self.assertIn("1/2 0:30 left first\n", stream.getvalue())
        self.assertIn("2/2 1 failed 0:00 left second\n", stream.getvalue())

    def test_duration(self):
        self.assertEqual(progress.duration(75.2), "1:15")
        self.assertEqual(progress.duration(3700), "1:01:40")


class Results(unittest.TestCase):
    ORIGIN = {name: f"a {name}" for name in store.ORIGIN}
    ROW = {"suite": "s", "kernel": "k", "dataset": "MINI", "type": "double",
           "config": "seq", "program": "p", "status": "ok", "runs": 3}

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name) / "new" / "results.csv"

    def add(self, **changes):
        with store.Store(self.path, self.ORIGIN) as results:
            results.add({**self.ROW, **changes})

    def test_rows_stay(self):
        self.add()
        self.add(kernel="other", message="a, \"b\"")
        rows = store.read(self.path)
        self.assertEqual([row["kernel"] for row in rows], ["k", "other"])
        self.assertEqual(rows[1]["message"], "a, \"b\"")
        self.assertEqual(rows[1]["gpu"], "a gpu")
        self.assertIn(store.key(self.ROW),
                      store.Store(self.path, self.ORIGIN).done)

    def test_a_torn_row_is_not_there(self):
        self.add()
        self.add(kernel="torn")
        data = self.path.read_bytes()
        self.path.write_bytes(data[:-20])
        results = store.Store(self.path, self.ORIGIN)
        self.assertEqual([key[1] for key in results.done], ["k"])
        self.add(kernel="after")
        self.assertEqual([row["kernel"] for row in store.read(self.path)],
                         ["k", "after"])

    def test_other_origin_is_refused(self):
        self.add()
        for name in store.ORIGIN:
            with self.assertRaisesRegex(store.StoreError, name):
                store.Store(self.path, {**self.ORIGIN, name: "b"})

    def test_unknown_column(self):
        with self.assertRaisesRegex(store.StoreError, "colour"):
            self.add(colour="red")

    def test_foreign_file(self):
        self.path.parent.mkdir()
        self.path.write_text("a,b\n1,2\n")
        with self.assertRaises(store.StoreError):
            store.Store(self.path, self.ORIGIN)


class Machine(unittest.TestCase):

    def test_describe(self):
        seen = machine.describe()
        self.assertTrue(all(seen.values()))
        self.assertLessEqual(set(seen), set(store.ORIGIN))

    def test_no_checkout(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(machine.commit(folder), "unknown")


if __name__ == "__main__":
    unittest.main()

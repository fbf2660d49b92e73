"""Tests of run.py end to end, on the host, with a suite that misbehaves on
demand."""

import contextlib
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

from support import CLANG, HAS_CLANG, POLYBENCH, make_suite

from runner import build, bundle, cli, configs, execute, store, suites

ORIGIN = {name: "x" for name in store.ORIGIN}


@unittest.skipUnless(HAS_CLANG, f"needs {CLANG}")
class WithSuite(unittest.TestCase):
    """Gives each test a suite, and a folder for what is built of it."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.suite = make_suite(Path(folder.name) / "suite")
        cls.work = Path(folder.name) / "work"

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def build(self, names=("one",), config="seq", out=None):
        suite = suites.find(self.suite)
        jobs = [build.Job(kernel, "MINI", "default", configs.parse(config))
                for kernel in suite.select(names)]
        return build.Builder(build.Toolchain(CLANG), suite,
                             out or self.work).build(jobs, 2)

    def rows(self, manifest, **options):
        options = execute.Options(**{"runs": 2, **options})
        with store.Store(self.folder / "results.csv", ORIGIN) as results:
            runner = execute.Runner(manifest, self.work, results, options)
            runner.run(stream=io.StringIO())
        return store.read(self.folder / "results.csv")

    def row(self, fault="", exact=True, **options):
        manifest = self.build()
        manifest["jobs"][0]["environment"] = {"DEMO_FAULT": fault}
        manifest["jobs"][0]["exact"] = exact
        return self.rows(manifest, **options)[0]


class Build(WithSuite):

    def test_manifest(self):
        job = self.build()["jobs"][0]
        self.assertEqual(job["type"], "double")
        self.assertEqual(job["program"], job["reference"])
        self.assertEqual(job["program"]["error"], "")
        self.assertTrue(job["repeats"])

    def test_sizes(self):
        suite = suites.find()
        job = build.Job(suite.kernels["deriche"], "SMALL", "default",
                        configs.parse("seq"))
        self.assertEqual(build.sizes(CLANG, job),
                         ({"W": 192, "H": 128}, "float"))
        job = build.Job(suite.kernels["gemm"], "EXTRALARGE", "float",
                        configs.parse("seq"))
        self.assertEqual(build.sizes(CLANG, job),
                         ({"NI": 2000, "NJ": 2300, "NK": 2600}, "float"))

    def test_what_is_there_is_kept(self):
        out = self.folder / "out"
        path = out / self.build(out=out)["jobs"][0]["program"]["path"]
        before = path.stat().st_mtime_ns
        self.build(out=out)
        self.assertEqual(path.stat().st_mtime_ns, before)
        for part in ("kernels/one/one.c", "common/polybench.c"):
            before = path.stat().st_mtime_ns
            source = self.suite / part
            source.write_text(source.read_text() + "\n")
            self.build(out=out)
            self.assertNotEqual(path.stat().st_mtime_ns, before, part)

    def test_no_run_after_the_budget(self):
        manifest = self.build(out=self.folder / "out")
        program = self.folder / "out" / manifest["jobs"][0]["program"]["path"]
        for budget, runs in (("0.000001", 1), ("100", 5)):
            output = subprocess.run(
                [program], capture_output=True, check=True, text=True,
                env={"PB_RUNS": "5", "PB_SECONDS": budget}).stdout
            self.assertEqual(len(output.split()), runs)

    def test_source_with_an_error(self):
        suite = make_suite(self.folder / "bad", ["bad"])
        (suite / "kernels" / "bad" / "bad.c").write_text("int main(void {}")
        found = suites.find(suite)
        job = build.Job(found.kernels["bad"], "MINI", "default",
                        configs.parse("seq"))
        manifest = build.Builder(build.Toolchain(CLANG), found,
                                 self.folder / "out").build([job], 1)
        self.assertIn("error: expected",
                      manifest["jobs"][0]["program"]["error"])
        with store.Store(self.folder / "r.csv", ORIGIN) as results:
            row = execute.Runner(manifest, self.folder / "out", results,
                                 execute.Options()).run(io.StringIO())[0]
        self.assertEqual(row["status"], "failed")

    def test_missing_parts(self):
        with self.assertRaisesRegex(build.BuildError, "--clang"):
            build.Toolchain("/nonexistent/clang").check([])
        with self.assertRaisesRegex(build.BuildError, "PollyACC.so"):
            build.Toolchain(CLANG, self.folder).check([configs.parse("auto")])
        with self.assertRaisesRegex(build.BuildError, "--ppcg"):
            build.Toolchain(CLANG).check([configs.parse("ppcg")])

    @unittest.skipUnless(shutil.which("ninja"), "needs ninja")
    def test_stale_runtime(self):
        (self.folder / "lib").mkdir()
        (self.folder / "rt.c").touch()
        (self.folder / "build.ninja").write_text(
            "rule copy\n  command = cp $in $out\n"
            "build lib/PollyACC.so: copy rt.c\n"
            "build lib/libpacc_rt.a: copy rt.c\n")
        toolchain = build.Toolchain(CLANG, self.folder)
        subprocess.run(["ninja", "-C", self.folder], check=True,
                       stdout=subprocess.DEVNULL)
        toolchain.check([configs.parse("auto")])
        os.utime(self.folder / "rt.c", (2**32, 2**32))
        subprocess.run(["ninja", "-C", self.folder, "lib/PollyACC.so"],
                       check=True, stdout=subprocess.DEVNULL)
        with self.assertRaisesRegex(build.BuildError, "older than its sources"):
            toolchain.check([configs.parse("auto")])


class Execute(WithSuite):

    def test_right(self):
        row = self.row()
        self.assertEqual((row["status"], row["values"], row["differing"]),
                         ("ok", "10", "0"))
        self.assertEqual(len(row["times_s"].split(";")), 3)
        self.assertEqual(row["runs"], "3")
        self.assertLessEqual(float(row["warm_min_s"]),
                             float(row["warm_median_s"]))

    def test_wrong_results_have_no_time(self):
        row = self.row("one:wrong")
        self.assertEqual(row["status"], "wrong")
        self.assertIn("a[3]", row["message"])
        self.assertEqual(float(row["max_absolute"]), 1)
        self.assertEqual(float(row["max_scaled"]), round(1 / 2.25, 6))
        self.assertEqual(row["cold_s"] + row["warm_median_s"] +
                         row["times_s"], "")

    def test_tolerance(self):
        self.assertEqual(self.row("one:wrong", exact=False)["status"],
                         "wrong")
        (self.folder / "results.csv").unlink()
        self.assertEqual(self.row("one:wrong", exact=False,
                                  tolerance=0.5)["status"], "ok")

    def test_too_few_values(self):
        row = self.row("one:short", exact=False, tolerance=1.0)
        self.assertEqual(row["status"], "wrong")
        self.assertIn("9 values instead of 10", row["message"])

    def test_crash(self):
        row = self.row("one:crash")
        self.assertEqual(row["status"], "failed")
        self.assertIn("signal 6", row["message"])

    def test_exit_status(self):
        row = self.row("one:exit")
        self.assertEqual(row["status"], "failed")
        self.assertEqual(row["message"], "exit status 7: out of luck")

    def test_missing_program(self):
        manifest = self.build()
        self.rows(manifest)  # The reference is there.
        (self.folder / "results.csv").unlink()
        job = manifest["jobs"][0]
        job["program"] = {**job["program"], "path": "bin/none"}
        row = self.rows(manifest)[0]
        self.assertEqual(row["status"], "failed")
        self.assertIn("does not start", row["message"])

    def test_no_paths_in_messages(self):
        self.assertEqual(
            execute._message("a (x.c:3):\n /home/me/p/x.c and kernels/y.c, "
                             "1/2 of /usr/lib/z.so"),
            "a (x.c:3): x.c and kernels/y.c, 1/2 of z.so")

    def test_time_limit(self):
        manifest = self.build()
        self.rows(manifest)  # The reference is there.
        (self.folder / "results.csv").unlink()
        started = time.monotonic()
        row = self.row("one:sleep", timeout=1)
        self.assertEqual(row["status"], "timeout")
        self.assertLess(time.monotonic() - started, 20)

    def test_nothing_ran_on_the_device(self):
        manifest = self.build()
        manifest["jobs"][0]["profiled"] = True
        row = self.rows(manifest)[0]
        self.assertEqual((row["status"], row["launches"]), ("host", "0"))

    def test_references_run_first_and_together(self):
        manifest = self.build(("one", "two"))
        one, two = manifest["jobs"]
        manifest["jobs"] = [{**one, "environment": {"DEMO_FAULT": "x"},
                             "config": "other"}, one, two]
        for job in manifest["jobs"]:
            job["operations"] = 1e9 if job is two else 1
        rows = self.rows(manifest, references=2, runs=0)
        self.assertEqual([(row["kernel"], row["config"], row["message"])
                          for row in rows][2:], [("one", "other", "")])
        self.assertEqual({(row["kernel"], row["message"])
                          for row in rows[:2]},
                         {("one", "timed beside others"),
                          ("two", "timed beside others")})
        self.assertEqual(len(list((self.work / "reference").iterdir())), 2)

    def test_one_time_per_process(self):
        manifest = self.build()
        manifest["jobs"][0]["repeats"] = False
        row = self.rows(manifest)[0]
        self.assertEqual(row["runs"], "3")
        self.assertNotEqual(row["warm_median_s"], "")


class Device(WithSuite):
    """The measurement of a device, with a script in place of the program."""

    def measure(self, script):
        manifest = self.build()
        program = self.work / "bin" / "device_rates"
        program.write_text("#!/bin/sh\n" + script)
        program.chmod(0o755)
        manifest["rates"] = {"path": "bin/device_rates", "error": "",
                             "sha256": "abc"}
        with store.Store(self.folder / "results.csv", ORIGIN) as results:
            runner = execute.Runner(manifest, self.work, results,
                                    execute.Options())
            return runner.measure_device()

    def test_rates(self):
        script = ("echo copy double 0 2000 0.5 0.25 1.0\n"
                  "echo fma float 100 0 0.001 0.002 0.003\n")
        for _ in range(2):
            self.assertEqual(self.measure(script), "")
        rows = store.read(self.folder / "results.csv")
        self.assertEqual([row["kernel"] for row in rows], ["copy", "fma"])
        self.assertEqual(float(rows[0]["warm_median_s"]), 0.5)
        self.assertEqual(rows[0]["traffic"], "2000")
        self.assertEqual(rows[1]["runs"], "3")

    def test_no_device(self):
        self.assertIn("no device",
                      self.measure("echo no device >&2\nexit 1\n"))
        self.assertFalse((self.folder / "results.csv").exists())


class CommandLine(WithSuite):

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        # Outside the checkout there is no commit that could change meanwhile.
        scripts = cls.work.parent / "scripts" / "polybench"
        scripts.mkdir(parents=True)
        for name in ("common", "runner"):
            shutil.copytree(POLYBENCH / name, scripts / name)
        cls.script = shutil.copy(POLYBENCH / "run.py", scripts)

    def command(self, action, *options):
        return [sys.executable, self.script, action, "--suite",
                str(self.suite), "--datasets", "mini", "--configs", "seq",
                "--clang", CLANG, *options]

    def run_command(self, *command, status=0, **environment):
        run = subprocess.run(command, capture_output=True, text=True,
                             env={**os.environ, **environment}, timeout=120,
                             check=False)
        self.assertEqual(run.returncode, status, run.stdout + run.stderr)
        return run.stdout + run.stderr

    def test_interrupted_and_resumed(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(signal=number.name):
                self.interrupt_and_resume(number)

    def interrupt_and_resume(self, number):
        results = self.folder / f"{number.name}.csv"
        command = self.command("run", "--work", str(self.work), "--results",
                               str(results), "--runs", "1")
        process = subprocess.Popen(
            command, env={**os.environ, "DEMO_FAULT": "two:sleep"},
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        try:
            for _ in range(600):
                if results.exists() and results.read_text().count("\n") == 2:
                    break
                time.sleep(0.1)
            # The second program waits: it must end with the script.
            child = self.child_of(process.pid)
            process.send_signal(number)
            output = process.communicate(timeout=30)[0]
        finally:
            process.kill()
            process.wait()
        self.assertEqual(process.returncode, 3, output)
        self.assertFalse(os.path.exists(f"/proc/{child}"))
        first = store.read(results)
        self.assertEqual([row["kernel"] for row in first], ["one"])

        output = self.run_command(*command)
        self.assertIn("1 of 2 jobs are in", output)
        self.assertIn("2 of 2 jobs have right results", output)
        rows = store.read(results)
        self.assertEqual([row["kernel"] for row in rows], ["one", "two"])
        self.assertEqual(rows[0], first[0])

    def child_of(self, parent):
        """The first child process, once there is one."""
        tasks = Path(f"/proc/{parent}/task")
        for _ in range(300):
            # Each thread lists those that it started.
            children = [child for path in tasks.glob("*/children")
                        for child in path.read_text().split()]
            if children:
                return children[0]
            time.sleep(0.1)
        self.fail("the second program was not started")

    def test_failure_shows(self):
        output = self.run_command(
            *self.command("run", "--work", str(self.folder / "work"),
                          "--results", str(self.folder / "r.csv")),
            status=1, DEMO_FAULT="two:exit")
        self.assertIn("failed: two MINI seq", output)
        self.assertIn("1 of 2 jobs have right results", output)
        output = self.run_command(sys.executable, self.script,
                                  "show", str(self.folder / "r.csv"))
        self.assertIn("out of luck", output)

    def test_bundle(self):
        out = self.folder / "bundle"
        self.run_command(*self.command("build", "--out", str(out)))
        # Another place, no import path, and an interpreter without packages.
        moved = self.folder / "moved"
        shutil.move(out, moved)
        output = self.run_command(sys.executable, "-S", "-E",
                                  str(moved / "run"), "--runs", "1")
        self.assertIn("2 of 2 jobs have right results", output)
        only = self.folder / "only.csv"
        output = self.run_command(sys.executable, str(moved / "run"),
                                  "--kernels", "two", "--results", str(only))
        self.assertIn("1 of 1 jobs have right results", output)
        self.assertEqual([row["kernel"] for row in store.read(only)], ["two"])
        self.assertIn("no dataset 'LARGE'", self.run_command(
            sys.executable, str(moved / "run"), "--datasets", "LARGE",
            status=2))
        results = self.folder / "home.csv"
        collect = [sys.executable, self.script, "collect",
                   str(moved), "--results", str(results)]
        self.assertIn("2 new rows", self.run_command(*collect))
        self.assertIn("0 new rows", self.run_command(*collect))
        self.assertEqual(store.read(results),
                         store.read(moved / "results.csv"))

        manifest = json.loads((moved / "manifest.json").read_text())
        manifest["commit"] = "other"
        (moved / "manifest.json").write_text(json.dumps(manifest))
        self.assertIn("the bundle is of other",
                      self.run_command(*collect, status=2))

    def test_bundle_size(self):
        out = self.folder / "bundle"
        self.build(out=out)
        with open(out / "bin" / "large", "wb") as stream:
            stream.truncate(bundle.LIMIT + 1)
        with self.assertRaisesRegex(bundle.BundleError, "60"):
            bundle.finish(out)

    def test_bad_command_lines(self):
        for options, message in (
                (["run", "--configs", "fast"], "no configuration"),
                (["run", "--kernels", "gem"], "no kernel 'gem'"),
                (["run", "--suite", str(self.folder)], "is no suite"),
                (["collect", str(self.folder)], "is missing"),
                (["show", str(self.folder / "none.csv")], "none.csv"),
        ):
            errors = io.StringIO()
            with contextlib.redirect_stderr(errors):
                self.assertEqual(cli.main(options), 2)
            self.assertIn(message, errors.getvalue())

    def test_reader_that_has_seen_enough(self):
        process = subprocess.Popen(
            [sys.executable, POLYBENCH / "run.py", "configs"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        process.stdout.close()
        errors = process.stderr.read()
        process.stderr.close()
        process.wait()
        self.assertEqual(errors, b"")


if __name__ == "__main__":
    unittest.main()

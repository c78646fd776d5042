"""Tests that Kernel Tuner itself reads what fatune exports, and that fatune imports what Kernel Tuner wrote.

usage: kernel_tuner_test.py FATUNE FAKE_CUDA FAKE_WORKER WHEELS

Kernel Tuner is installed from PyPI into the folder WHEELS if it is missing. Skipped (77) if that is not possible. Its C
backend runs kernels on the CPU, so it tunes without a GPU: a function that returns its own time.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from script_modules import ROOT, run_tests
from wheel_folder import bring_wheels

FATUNE, FAKE_CUDA, FAKE_WORKER, WHEELS = sys.argv[1:5]
# Packages that Kernel Tuner imports here. Its other dependencies, for other strategies, add 300 MB.
WHEELS = bring_wheels(WHEELS, ["jsonschema", "numpy>=2.0.0", "packaging", "python-constraint2>=2.5.0", "xmltodict"],
                      files_only=["kernel_tuner==1.5.0"])

import jsonschema  # noqa: E402  (of that folder)
import kernel_tuner
import numpy
from kernel_tuner import file_utils, util

TOY = str(ROOT / "tests/families/toy_attention")
SPACE = str(ROOT / "tests/spaces/four_shapes.json")
SCRIPT = {"us": {"128, 64, 64, 4": 120.0, "128, 128, 64, 4": 100.0, "128, 64, 32, 4": 140.0},
          "noise_percent": 1.0, "wrong": {"128, 128, 32, 4): async+eager+swizzled+load_2_2_2_tiles+opt": "off by 3"}}
# It returns its time in milliseconds, which varies. Kernel Tuner continues if a compiler's message has these words.
C_KERNEL = """
#if BLOCK_ROWS == 32 && UNROLL == 2
#error "uses too much shared data"
#endif
extern "C" float tuned(float *runs) {
  runs[0] += 1;
  return 1.0f / (BLOCK_ROWS * UNROLL) + 0.0001f * runs[0];
}
"""
PARAMETERS = {"dtype": ["FP16"], "d_head": [128], "BLOCK_ROWS": [32, 64], "UNROLL": [1, 2]}


class KernelTuner(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.temporary.cleanup)
        cls.folder = pathlib.Path(cls.temporary.name)
        cls.addClassCleanup(os.chdir, os.getcwd())  # before the folder goes
        os.chdir(cls.folder)  # Kernel Tuner compiles there
        cls.environment = {**os.environ, "HOME": str(cls.folder), "FATUNE_LIBCUDA": FAKE_CUDA,
                           "FATUNE_WORKER": FAKE_WORKER, "FATUNE_FAKE_WORKER": json.dumps(SCRIPT)}
        cls.environment.pop("XDG_DATA_HOME", None)
        cls.fatune("sweep", "--seq", "256", "--dhead", "128", "--dtype", "fp16", "--batch", "1", "--space", SPACE)
        cls.run_report = cls.show()
        for name in ("cache", "t4"):
            format_name = "kernel-tuner-cache" if name == "cache" else name
            cls.fatune("export", "--run", "last", "--to", format_name, "--out", cls.path(name))

    @classmethod
    def path(cls, name):
        return str(cls.folder / f"{name}.json")

    @classmethod
    def fatune(cls, *arguments):
        done = subprocess.run([FATUNE, *arguments], capture_output=True, text=True, check=False, env=cls.environment)
        if done.returncode != 0:
            raise AssertionError(f"{arguments}: {done.stderr}")
        return done.stdout

    @classmethod
    def show(cls):
        return json.loads(cls.fatune("show", "last", "--format", "json"))

    def imported(self, *arguments):
        self.fatune("import", *arguments)
        return self.show()["problems"][0]

    def ranking(self):
        return self.run_report["problems"][0]["ranking"]

    def tune(self, name):
        """Lets Kernel Tuner tune the C function over the toy family's parameters, and write its own files."""
        results, _ = kernel_tuner.tune_kernel("tuned", C_KERNEL, 1, [numpy.zeros(1, numpy.float32)], PARAMETERS, lang="C",
                                              cache=self.path(name), iterations=5, quiet=True)
        file_utils.store_output_file(self.path(name + "_t4"), results, PARAMETERS)
        return results

    def expect_ranked_as(self, problem, results):
        """Checks that the problem's ranking has Kernel Tuner's results, ordered by the median of their runs."""
        timed = [result for result in results if "__error__" not in result]
        expected = sorted((numpy.median(result["times"]) * 1000, result["BLOCK_ROWS"], result["UNROLL"])
                          for result in timed)
        found = [(entry["time_us"], entry["parameters"]["BLOCK_ROWS"], entry["parameters"]["UNROLL"])
                 for entry in problem["ranking"]]
        self.assertEqual(len(found), len(expected))
        for one, other in zip(found, expected):
            self.assertAlmostEqual(one[0], other[0])
            self.assertEqual(one[1:], other[1:])
        self.assertEqual([entry["outcome"] for entry in problem["failures"]],
                         ["compile_failed"] * (len(results) - len(timed)))

    def test_it_reads_the_cache_with_its_failures(self):
        cache = util.read_cache(self.path("cache"), open_cache=False)
        problem = self.run_report["problems"][0]
        failed = [entry for entry in cache["cache"].values() if "__error__" in entry]
        self.assertGreater(len(failed), 0)
        self.assertEqual(len(failed), len(problem["failures"]))
        self.assertEqual(len(cache["cache"]), len(problem["ranking"]) + len(failed))
        self.assertIsInstance(failed[0]["__error__"], util.RuntimeFailedConfig)
        self.assertEqual(cache["device_name"], self.run_report["device"]["name"])

    def test_its_simulation_finds_the_same_best_configuration(self):
        results, environment = kernel_tuner.tune_cache(self.path("cache"), quiet=True)
        self.assertEqual(len(results), len(self.ranking()))
        best = environment["best_config"]
        self.assertEqual({name: best[name] for name in self.ranking()[0]["parameters"]}, self.ranking()[0]["parameters"])
        self.assertAlmostEqual(best["time"], self.ranking()[0]["time_us"] / 1000)

    def test_its_strategies_search_the_cache(self):
        for strategy in ("random_sample", "greedy_ils", "genetic_algorithm"):
            results, _ = kernel_tuner.tune_cache(self.path("cache"), quiet=True, strategy=strategy,
                                                 strategy_options={"max_fevals": 4})
            self.assertGreater(len(results), 0, strategy)

    def compare_searches(self, *python):
        return subprocess.run([*python, str(ROOT / "scripts/compare_searches"), "--seeds", "3", "--percent", "60", "--strategies",
                               "random_sample,greedy_ils", self.path("cache")], capture_output=True, text=True,
                              check=False, env={**os.environ, "PYTHONPATH": str(WHEELS)})

    def test_its_strategies_are_compared(self):
        done = self.compare_searches(sys.executable)
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = [line.split() for line in done.stdout.splitlines()[1:]]
        self.assertEqual([row[:2] for row in rows], [["cache.json", "random_sample"], ["cache.json", "greedy_ils"]])
        for _, _, median, nine_of_ten, close in rows:
            self.assertLessEqual(0.0, float(median))
            self.assertLessEqual(float(median), float(nine_of_ten))
            self.assertEqual(close.split("/")[1], "3")

    def test_comparing_without_it_says_what_to_install(self):
        done = self.compare_searches(sys.executable, "-I", "-S")
        self.assertEqual(done.returncode, 1)
        self.assertIn("pip install kernel_tuner", done.stderr)

    def test_it_can_add_settings_to_the_cache(self):
        path = self.path("added")
        pathlib.Path(path).write_bytes(pathlib.Path(self.path("cache")).read_bytes())
        before = len(util.read_cache(path)["cache"])
        util.store_cache("new", {"time": 1.0}, path, {})
        util.close_cache(path)
        self.assertEqual(len(util.read_cache(path, open_cache=False)["cache"]), before + 1)

    def test_t4_follows_the_public_schemas(self):
        written = json.loads(pathlib.Path(self.path("t4")).read_text(encoding="utf-8"))
        for name in ("results", "metadata"):
            jsonschema.validate(written, file_utils.output_file_schema(name)[1])

    def test_its_t4_of_a_simulation_is_imported(self):
        results, _ = kernel_tuner.tune_cache(self.path("cache"), quiet=True)
        parameters = util.read_cache(self.path("cache"), open_cache=False)["tune_params"]
        file_utils.store_output_file(self.path("simulated"), results, parameters)
        problem = self.imported(self.path("simulated"), "--seq", "256", "--batch", "1", "--arch", "sm_90", "--gpu", "GPU")
        # A race ranks a candidate that it eliminated below the others, even if its median is the smaller one.
        expected = sorted(self.ranking(), key=lambda entry: entry["time_us"])
        self.assertEqual([entry["config"] for entry in problem["ranking"]], [entry["config"] for entry in expected])
        for one, other in zip(problem["ranking"], expected):
            self.assertAlmostEqual(one["time_us"], other["time_us"])

    def test_what_it_tuned_is_imported(self):
        results = self.tune("tuned")
        self.assertEqual(len(results), 4)
        of_toy = ("--kernel-dir", TOY, "--seq", "256", "--batch", "1", "--arch", "sm_90", "--gpu", "a CPU")
        self.expect_ranked_as(self.imported(self.path("tuned"), *of_toy), results)
        self.expect_ranked_as(self.imported(self.path("tuned_t4"), *of_toy), results)

    def test_a_cache_that_it_has_not_closed_is_imported(self):
        results = self.tune("open")
        util.read_cache(self.path("open"))  # opens the cache to add settings
        text = pathlib.Path(self.path("open")).read_text(encoding="utf-8")
        self.assertTrue(text.endswith(","))
        problem = self.imported(self.path("open"), "--kernel-dir", TOY, "--seq", "256", "--batch", "1", "--arch", "sm_90",
                                "--gpu", "a CPU")
        self.expect_ranked_as(problem, results)


if __name__ == "__main__":
    run_tests()

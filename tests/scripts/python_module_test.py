"""Tests the Python module of fatune's wheel, from its sources, with the program and without a GPU.

usage: python_module_test.py FATUNE FAKE_CUDA FAKE_WORKER
"""
import contextlib
import io
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import types
import unittest
from unittest import mock

from script_modules import ROOT, run_tests

FATUNE, FAKE_CUDA, FAKE_WORKER = sys.argv[1:4]
SOURCES = ROOT / "src/python"
FOLDER = tempfile.TemporaryDirectory()
WORK = pathlib.Path(FOLDER.name)
os.environ.update(PATH=f"{pathlib.Path(FATUNE).parent}:{os.environ['PATH']}", FATUNE_LIBCUDA="/nonexistent/libcuda.so.1",
                  XDG_DATA_HOME=FOLDER.name)
sys.path.insert(0, str(SOURCES))
import fatune  # noqa: E402

PROBLEMS = {"seq": [256, 512], "dhead": 64, "dtype": "fp16", "space": "prog"}
# Two problems of three slow samples each. It prints a line after the first, and is soon in the middle of a sample.
LONG_RUN = """
import fatune, json, sys
options = json.loads(sys.argv[1])
try:
    fatune.run_command("run", seq=(128, 256), batch=1, heads=1, warmup=0, repeats=3, no_db=True, **options)
except KeyboardInterrupt:
    print("interrupted")
"""


def quietly(call, *words, **options):
    with contextlib.redirect_stderr(io.StringIO()):
        return call(*words, **options)


class Calls(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        printed = io.StringIO()
        with contextlib.redirect_stderr(printed):
            cls.swept = fatune.sweep(**PROBLEMS, out=WORK / "out", causal=True, lse=False, heads=None)
        cls.progress = printed.getvalue()

    def fails(self, call, *words, **options):
        with self.assertRaises(fatune.FatuneError) as raised:
            quietly(call, *words, **options)
        return raised.exception

    def test_the_program_is_the_one_on_the_path(self):
        self.assertTrue(os.path.samefile(fatune.program(), FATUNE))
        with mock.patch.dict(os.environ, PATH="/nonexistent"):
            with self.assertRaisesRegex(FileNotFoundError, "neither beside the module fatune nor on the PATH"):
                fatune.version()

    def test_keywords_are_options(self):
        self.assertEqual(self.swept["command_line"].split(" ", 1)[1],
                         f"sweep --format=json --seq=256,512 --dhead=64 --dtype=fp16 --space=prog --out={WORK}/out --causal")
        self.assertEqual([one["problem"]["seq_len"] for one in self.swept["problems"]], [256, 512])

    def test_words_are_passed_as_they_are(self):
        error = self.fails(fatune.run_command, "show", "no such file; exit 0")
        self.assertEqual(error.exit_code, 3)
        self.assertIn("no such file; exit 0", str(error))
        twice = quietly(fatune.predict, "--seq", "777", dhead=128)
        self.assertEqual(twice["predictions"][0]["problem"]["seq_len"], 777)
        self.assertIn("--from", str(self.fails(fatune.run_command, "import", WORK / "out/results.json", from_="nothing")))

    def test_progress_passes_through(self):
        self.assertIn("NOT MEASURED", self.progress)
        self.assertRegex(self.progress, r"\[14/14\] b16 s512 .*: 7 ranked")

    def test_errors_have_the_exit_code_and_what_was_said(self):
        error = self.fails(fatune.sweep, seqq=1)
        self.assertEqual((error.exit_code, error.result), (2, None))
        self.assertIn("did you mean '--seq'?", str(error))

    def test_a_result_that_comes_with_an_exit_code_is_kept(self):
        file = WORK / "out/results.json"
        error = self.fails(fatune.run_command, "compare", file, file)
        self.assertEqual((error.exit_code, error.result["format"]), (13, "fatune.compare"))

    def test_files_are_loaded(self):
        self.assertEqual(fatune.load(WORK / "out/results.json")["problems"], self.swept["problems"])
        best = fatune.load(str(WORK / "out/best_configs.json"))
        self.assertEqual([one["more_ranked"] for one in best["problems"]], [2, 2])
        lines = WORK / "lines.jsonl"
        lines.write_text(subprocess.run([FATUNE, "show", "last", "--format", "jsonl"], check=True, capture_output=True,
                                        text=True).stdout, encoding="utf-8")
        self.assertEqual(len(fatune.load_lines(lines)), 14)

    def test_records_are_those_of_the_csv(self):
        rows = fatune.records(self.swept)
        header = (WORK / "out/results.csv").read_text(encoding="utf-8").splitlines()[0]
        self.assertEqual(",".join(rows[0]), header)
        self.assertEqual([row["rank"] for row in rows], [*range(1, 8)] * 2)
        self.assertEqual(rows[0]["time_us"], self.swept["problems"][0]["ranking"][0]["time_us"])
        for run in ("last", WORK / "out/results.json"):
            self.assertEqual(fatune.records(run, columns=["rank"]), [{"rank": row["rank"]} for row in rows])
        self.assertEqual(fatune.records(self.swept, filter="rank > 7"), [])

    def test_a_dataframe_is_made_of_records(self):
        with mock.patch.dict(sys.modules, pandas=types.SimpleNamespace(DataFrame=tuple)):
            self.assertEqual(fatune.to_dataframe(self.swept, sort="rank"), tuple(fatune.records(self.swept, sort="rank")))
        with mock.patch.dict(sys.modules, pandas=None):
            with self.assertRaisesRegex(ImportError, "needs pandas: pip install pandas"):
                fatune.to_dataframe(self.swept)

    def test_the_version_is_the_programs(self):
        self.assertEqual(list(fatune.version()), ["fatune", "commit", "build", "NVRTC", "driver"])

    def test_the_document_shows_what_works(self):
        text = (ROOT / "docs/python.md").read_text(encoding="utf-8")
        for name in fatune.__all__:
            if callable(getattr(fatune, name)) and name.islower():
                self.assertIn(f"`{name}(", text)
        names = {}
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            quietly(exec, re.search(r"```python\n(.*?)```", text, re.DOTALL)[1], names)
        self.assertRegex(printed.getvalue(), r"^256 \(FP16, .*\n512 \(FP16, ")
        self.assertEqual(len(names["rows"]), 14)
        self.assertEqual(len(names["kept"]["kept"]), 7)


class Interrupts(unittest.TestCase):
    def interrupted_by(self, send):
        """Runs LONG_RUN, and sends a signal after its first problem. Returns what it wrote, and its results."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        script = {"slow_ms": 600, "us": {"load": 100.0}}
        environment = {**os.environ, "PYTHONPATH": str(SOURCES), "FATUNE_LIBCUDA": FAKE_CUDA,
                       "FATUNE_WORKER": FAKE_WORKER, "FATUNE_FAKE_WORKER": json.dumps(script)}
        options = {"config": "(FP16, 128, 64, 64, 4): async+eager+swizzled+load_0_2_2_tiles+opt_softmax",
                   "out": folder.name}
        with subprocess.Popen([sys.executable, "-B", "-c", LONG_RUN, json.dumps(options)], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, env=environment, start_new_session=True) as process:
            said = ""
            for line in process.stderr:
                said += line
                if line.startswith("[1/2]"):
                    time.sleep(0.2)
                    send(process.pid, signal.SIGINT)
            printed = process.stdout.read()
        self.assertEqual(printed, "interrupted\n", said)
        results = fatune.load(pathlib.Path(folder.name) / "results.json")
        self.assertFalse(results["complete"])
        self.assertEqual(len(results["problems"]), 2)  # the program was not ended at once

    def test_an_interrupt_of_python_reaches_the_program(self):
        self.interrupted_by(os.kill)

    def test_one_that_both_get_counts_once(self):
        self.interrupted_by(os.killpg)


if __name__ == "__main__":
    run_tests()

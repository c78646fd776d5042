"""Tests scripts/compare_peers as a whole, with a fake PyTorch and a fake driver.

usage: compare_peers_test.py SCRIPT FATUNE LIBCUDA
"""
import json
import os
import pathlib
import subprocess
import sys
import unittest

from script_modules import FolderTest

HERE = pathlib.Path(__file__).resolve().parent
SCRIPT, FATUNE, LIBCUDA = sys.argv[1:4] if len(sys.argv) > 3 else ("", "", "")
SM80 = "(FP16, 64, 64, 32, 4): async+eager+swizzled+load_2_2_2_tiles+opt_softmax"
SM90 = "(ws, FP16, 64, 128, 128, 2, 8, 2): overlap+lazy+slots_1+cluster_2+persistent"
DYNAMIC = "(ws, FP16, 64, 128, 128, 2, 8, 2): overlap+lazy+slots_1+cluster_1+persistent+dynamic"


def problem(**members):
    return {"batch": 1, "seq_len": 256, "heads": 4, "d_head": 64, "dtype": "FP16", "causal": False, **members}


def best_configs(entries, family="flash_sm90"):
    problems = [{"problem": of, "ranking": [{"family": family, "config": config, "time_us": 100.0,
                                             "literature_tflops": 10.0}]} for of, config in entries]
    return {"device": {"name": "Fake H200"}, "problems": problems}


class ComparePeers(FolderTest):
    def setUp(self):
        super().setUp()
        self.environment = {**os.environ, "PYTHONPATH": str(HERE / "fake_torch"), "FATUNE_LIBCUDA": LIBCUDA,
                            "FATUNE_FAKE_KERNELS": "never_run"}

    def best(self, name, *entries, **options):
        path = self.folder / name
        path.write_text(json.dumps(best_configs(entries, **options)), encoding="utf-8")
        return str(path)

    def compare(self, *arguments, code=0):
        command = [sys.executable, "-B", SCRIPT, "--fatune", FATUNE, "--rounds", "4", *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=self.environment)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertNotIn("Traceback", done.stderr)
        return done

    def test_every_family_is_launched_and_timed_beside_the_peers(self):
        file = self.best("a.json", (problem(causal=True, kv_heads=2), SM80), (problem(), SM90),
                         (problem(seq_len=200), DYNAMIC))
        figures = self.folder / "figures.json"
        done = self.compare("--best", file, "--json", str(figures))
        written = json.loads(figures.read_text(encoding="utf-8"))
        self.assertEqual([row["best"] for row in written["rows"]], [SM80, SM90, DYNAMIC])
        for row in written["rows"]:
            self.assertAlmostEqual(row["candidates"][row["best"]]["median_ms"], 0.1)
            self.assertAlmostEqual(row["peers"]["fa2"]["median_ms"], 0.2)
            self.assertEqual((row["rounds"], row["sm_clock_mhz"]), (4, 1755))
        self.assertIsNone(written["turn_s"])
        self.assertAlmostEqual(written["summary"]["cudnn"]["least"], 0.5)
        lines = done.stdout.splitlines()
        self.assertIn("b1 s256 h4 d64 FP16 causal kv_heads=2", lines[3])
        self.assertTrue(lines[-1].startswith("3 problems; /fa2: geometric mean 2.000, least 2.000"), lines[-1])
        self.assertIn("triton is left out, it is not installed", done.stderr)

    def test_each_contender_may_have_turns_of_its_own(self):
        figures = self.folder / "figures.json"
        done = self.compare("--best", self.best("a.json", (problem(), SM80)), "--turn", "0.02", "--json", str(figures))
        written = json.loads(figures.read_text(encoding="utf-8"))
        row, = written["rows"]
        self.assertEqual((written["turn_s"], row["rounds"], row["sm_clock_mhz"]), (0.02, 4, 1755))
        self.assertAlmostEqual(row["candidates"][SM80]["median_ms"], 0.1)
        self.assertAlmostEqual(row["peers"]["fa2"]["median_ms"], 0.2)
        self.assertIn("medians of turns of 0.02 s", done.stdout)

    def test_of_several_winners_of_a_problem_all_run(self):
        first, second = self.best("a.json", (problem(), SM80)), self.best("b.json", (problem(), SM90))
        figures = self.folder / "figures.json"
        done = self.compare("--best", first, second, "--format", "md", "--peers", "cudnn", "--json", str(figures))
        row, = json.loads(figures.read_text(encoding="utf-8"))["rows"]
        self.assertEqual(set(row["candidates"]), {SM80, SM90})
        self.assertIn("| problem | fatune | cudnn | /cudnn | winner |\n|---|---|---|---|---|\n| b1 s256", done.stdout)

    def test_a_dense_product_has_its_own_rate(self):
        figures = self.folder / "figures.json"
        self.compare("--best", self.best("a.json", (problem(), SM80)), "--peers", "fa2,gemm", "--json", str(figures))
        row, = json.loads(figures.read_text(encoding="utf-8"))["rows"]
        self.assertAlmostEqual(row["peers"]["gemm"]["tflops"], 2 * 8192**3 / 1e9)
        self.assertAlmostEqual(row["peers"]["fa2"]["tflops"], 5.0)

    def test_flash_attention_3_is_timed_on_the_types_of_its_build(self):
        self.environment["PYTHONPATH"] += f":{HERE / 'fake_flash3'}"
        file = self.best("a.json", (problem(), SM90), (problem(dtype="BF16"), SM90.replace("FP16", "BF16")))
        figures = self.folder / "figures.json"
        done = self.compare("--best", file, "--peers", "fa2,fa3", "--json", str(figures))
        written = json.loads(figures.read_text(encoding="utf-8"))
        self.assertEqual(written["versions"]["fa3"], "fa3-fwd 0.0.3")
        fp16, bf16 = written["rows"]
        self.assertEqual((fp16["notes"], list(fp16["peers"])), ({"fa3": "no FP16"}, ["fa2"]))
        self.assertAlmostEqual(bf16["peers"]["fa3"]["median_ms"], 0.08)
        self.assertEqual(written["summary"]["fa3"]["problems"], 1)
        self.assertIn("/fa3 of 1: geometric mean 0.800", done.stdout)
        self.assertIn("compare_peers: fa3 is not timed on 1 of 2 problems: no FP16\n", done.stderr)

    def flash4_kernels(self, *libraries):
        folder = self.folder / "kernels"
        folder.mkdir()
        (folder / "versions.json").write_text('{"flash-attn-4": "4.0", "ptxas": "13.4"}', encoding="utf-8")
        for library in libraries:
            (folder / library).touch()
        return str(folder)

    def test_kernels_compiled_ahead_of_time_are_timed_as_fa4(self):
        file = self.best("a.json", (problem(kv_heads=2), SM80), (problem(seq_len=200, causal=True), SM80))
        figures = self.folder / "figures.json"
        done = self.compare("--best", file, "--peers", "fa2,fa4", "--json", str(figures), "--flash4-kernels",
                            self.flash4_kernels("d64_float16_full_group2.so"))
        written = json.loads(figures.read_text(encoding="utf-8"))
        self.assertEqual(written["versions"]["fa4"], "flash-attn-4 4.0, ptxas 13.4")
        first, second = written["rows"]
        self.assertAlmostEqual(first["peers"]["fa4"]["median_ms"], 0.04)
        self.assertNotIn("fa4", second["peers"])
        self.assertRegex(second["notes"]["fa4"], "no .*/d64_float16_causal_group1.so; scripts/build_flash4_kernels")
        self.assertIn("fa4 is not timed", done.stderr)

    def test_a_wrong_output_is_said_and_not_timed(self):
        self.environment["FAKE_TORCH_DIFFERENCE"] = "0.5"
        done = self.compare("--best", self.best("a.json", (problem(), SM80)), "--peers", "fa2", code=1)
        self.assertIn("its output is 0.5 off that of fa2", done.stderr)
        self.assertIn("none", done.stdout.splitlines()[3])

    def test_what_the_driver_refuses_is_named(self):
        self.environment["FATUNE_FAKE_FAIL"] = "cuTensorMapEncodeTiled=1"
        done = self.compare("--best", self.best("a.json", (problem(), SM90)), "--peers", "fa2", code=1)
        self.assertIn("cuTensorMapEncodeTiled at 0x", done.stderr)
        self.assertIn("CUDA_ERROR_INVALID_VALUE", done.stderr)

    def test_a_winner_that_does_not_compile_costs_its_row_alone(self):
        file = self.best("a.json", (problem(), "(FP16, 64, 48, 32, 4): async"), (problem(seq_len=200), SM80))
        done = self.compare("--best", file, "--peers", "fa2", code=1)
        self.assertIn("fatune compile --config (FP16, 64, 48, 32, 4): async --arch sm_90a", done.stderr)
        self.assertIn("2 problems; /fa2 of 1: geometric mean 2.000", done.stdout)

    def test_a_peer_that_fails_leaves_a_gap(self):
        self.environment["FAKE_TORCH_CUDNN_ERROR"] = "no engine"
        done = self.compare("--best", self.best("a.json", (problem(), SM80)))
        self.assertIn("cudnn is not timed: RuntimeError: no engine", done.stderr)
        self.assertRegex(done.stdout.splitlines()[3], r" - +2\.000 +- ")

    def test_a_peer_that_ends_the_context_ends_the_comparison(self):
        self.environment |= {"FAKE_TORCH_CUDNN_ERROR": "illegal access", "FAKE_TORCH_CUDNN_ENDS_CONTEXT": "1"}
        done = self.compare("--best", self.best("a.json", (problem(), SM80)), "--peers", "cudnn", code=1)
        self.assertIn("compare_peers: cudnn ended the GPU's context", done.stderr)

    def test_errors_are_one_line(self):
        bad = self.folder / "bad.json"
        bad.write_text("{}", encoding="utf-8")
        file = self.best("a.json", (problem(), SM80))
        for arguments, message in ((["--best", str(bad)], "not a best_configs.json"),
                                   (["--best", file, "--peers", "fa3"], "fa3 was asked for and is not installed"),
                                   (["--best", file, "--flash4-kernels", str(self.folder)], "is no folder that"),
                                   (["--best", file, "--fatune", "/nonexistent"], "/nonexistent")):
            done = self.compare(*arguments, code=1)
            self.assertIn(message, done.stderr)
        done = self.compare("--best", file, "--peers", "fa2", "--flash4-kernels", str(self.folder), code=2)
        self.assertIn("--peers leaves fa4 out", done.stderr)

    def test_durations_are_numbers_above_0(self):
        for option in ("--turn", "--budget"):
            for value in ("0", "-1", "long", "nan", "inf"):
                done = self.compare("--best", "a.json", f"{option}={value}", code=2)
                self.assertIn(f"argument {option}: '{value}' is no number of seconds above 0", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

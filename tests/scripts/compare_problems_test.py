"""Tests scripts/compare_problems as a whole, with a fake PyTorch and a fake driver.

usage: compare_problems_test.py SCRIPT FATUNE LIBCUDA WORKER
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
SCRIPT, FATUNE, LIBCUDA, WORKER = sys.argv[1:5] if len(sys.argv) > 4 else ("", "", "", "")
CONFIG = "(BF16, {d_head}, {rows}, 64, 2, 1): parts_256"
LATENT = "(BF16, 576, 64, 64, 2, 1): parts_2048"
PREFILL = "(ws, BF16, {d_head}, 128, 64, 2, 8, 2): overlap+lazy+slots_1+cluster_1+persistent+dynamic"
# A program that compiles as fatune does, and whose sweeps end at once, or fail where REFUSED is an option.
QUICK = f"""#!{sys.executable}
import json, os, pathlib, sys
arguments = sys.argv[1:]
of = dict(zip(arguments, arguments[1:]))
if arguments[0] != "sweep":
    os.execv({FATUNE!r}, [{FATUNE!r}, *arguments])
if os.environ.get("REFUSED", "nothing") in arguments:
    sys.exit("fatune: no configuration runs")
problem = {{"batch": int(of["--batch"]), "heads": int(of["--heads"]), "dtype": "BF16",
           "d_head": int(of["--dhead"]), "causal": "--causal" in arguments}}
for option, member in (("--seq-lens", "seq_lens"), ("--seq-kv-lens", "seq_lens_kv")):
    if option in of:
        problem[member] = of[option]
        assert len(of[option].split(",")) == problem["batch"]
        problem[member.replace("lens", "len")] = max(map(int, of[option].split(",")))
for option, member in (("--seq", "seq_len"), ("--seq-kv", "seq_len_kv"), ("--kv-heads", "kv_heads"),
                       ("--dhead-v", "d_head_v"), ("--page-size", "page_size"), ("--window", "window")):
    if option in of:
        problem[member] = int(of[option])
problem |= {{"softcap": float(of["--softcap"])}} if "--softcap" in of else {{}}
problem |= {{"sinks": True}} if "--sinks" in of else {{}}
problem |= {{"latent": True}} if "--latent" in arguments else {{}}
problem.setdefault("seq_len_kv", problem["seq_len"])
problem.setdefault("kv_heads", problem["heads"])
rows = problem["seq_len"] * problem["heads"] // problem["kv_heads"]
config = {CONFIG!r}.format(d_head=of["--dhead"], rows=8 if rows <= 8 else 64)
if problem.get("latent"):
    config = {LATENT!r}
if of["--family"] == "flash_sm90":
    config = {PREFILL!r}.format(d_head=of["--dhead"])
winner = {{"family": of["--family"], "config": config, "time_us": 100.0, "literature_tflops": 10.0}}
(pathlib.Path(of["--out"]) / "best_configs.json").write_text(json.dumps(
    {{"device": {{"name": "Fake H200"}}, "problems": [{{"problem": problem, "ranking": [winner]}}]}}))
"""


class CompareProblems(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.figures = self.folder / "figures.json"
        self.quick = self.folder / "quick_fatune"
        self.quick.write_text(QUICK, encoding="utf-8")
        self.quick.chmod(0o755)
        self.environment = {**os.environ, "FATUNE_LIBCUDA": LIBCUDA, "FATUNE_FAKE_KERNELS": "never_run",
                            "PYTHONPATH": ":".join(str(HERE / name) for name in
                                                   ("fake_torch", "fake_flash3", "fake_flashinfer"))}

    def compare(self, *arguments, code=0, fatune=None, script=(SCRIPT,)):
        command = [sys.executable, "-B", *script, "--fatune", str(fatune or self.quick), "--rounds", "2", "--json",
                   str(self.figures), *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=self.environment)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertNotIn("Traceback", done.stderr)
        return done

    def written(self):
        return json.loads(self.figures.read_text(encoding="utf-8"))

    def test_each_problem_is_swept_and_its_winner_timed_beside_the_peers(self):
        done = self.compare("--problems", "table:2")
        written = self.written()
        self.assertTrue(written["complete"])
        row = written["rows"][0]
        times = {name: round(of["median_ms"], 6) for name, of in row["peers"].items()}
        self.assertEqual(times, {"fa2": 0.2, "cudnn": 0.05, "fa3": 0.08, "flashinfer": 0.05})
        self.assertEqual(row["peers"]["flashinfer"]["kernel"], "flashinfer tensor_cores")
        best = written["summary"]["best"]
        self.assertEqual((round(best["geometric_mean"], 3), best["at_least"]),
                         (0.5, {"1.05": 0, "1.00": 0, "0.97": 0}))
        self.assertEqual(written["summary"]["fa2"]["at_least"], {"1.05": 2, "1.00": 2, "0.97": 2})
        cells = done.stdout.splitlines()[3].split()
        self.assertEqual(cells[cells.index("100.0"):-7], ["100.0", "0.02", "10", "200.0", "50.0", "80.0", "50.0",
                                                         "2.000", "0.500", "0.800", "0.500", "0.500", "-"])
        self.assertIn("/fa2, 2 problems: geometric mean 2.000, least 2.000", done.stdout)
        self.assertIn(">= 1.05 on 2, >= 1.00 on 2, >= 0.97 on 2", done.stdout)
        self.assertIn("fa4 is left out, it is not installed", done.stderr)

    def test_causal_queries_see_the_last_key_in_every_peer(self):
        self.compare("--problems", "random:7:12")
        rows = self.written()["rows"]
        causal = [row for row in rows if row["problem"]["causal"] and "seq_lens_kv" not in row["problem"]]
        self.assertTrue(causal and len(causal) < len(rows))
        for row in causal:
            self.assertEqual(set(row["peers"]), {"fa2", "cudnn", "fa3", "flashinfer"}, row["notes"])
            self.assertEqual(row["peers"]["flashinfer"]["kernel"], "flashinfer prefill_fa2")

    def test_peers_that_can_read_as_many_keys_of_each_sequence_as_it_has(self):
        self.compare("--problems", "random:7:4")
        rows = self.written()["rows"]
        self.assertEqual(["seq_lens_kv" in row["problem"] for row in rows], [False, True, False, True])
        for row in rows[1::2]:
            self.assertEqual(set(row["peers"]), {"fa3", "flashinfer"}, row["notes"])
            self.assertEqual(row["notes"], dict.fromkeys(("fa2", "cudnn"), "one length for all sequences"))

    def test_lengths_that_differ_need_kernels_of_their_own_among_those_compiled_ahead_of_time(self):
        kernels = self.folder / "kernels"
        kernels.mkdir()
        (kernels / "versions.json").write_text('{"flash-attn-4": "4.0"}', encoding="utf-8")
        for number, reason in ((0, "no .*_lengths.so"), (1, None)):
            self.compare("--problems", "random:7:2", "--flash4-kernels", str(kernels))
            lengths = self.written()["rows"][1]
            self.assertIn("seq_lens_kv", lengths["problem"])
            self.assertEqual("fa4" in lengths["peers"], number == 1, lengths["notes"])
            if reason:
                self.assertRegex(lengths["notes"]["fa4"], reason)
            one = lengths["problem"]
            name = (f"d{one['d_head']}_bfloat16_{'causal' if one['causal'] else 'full'}_"
                    f"group{one['heads'] // one['kv_heads']}_lengths.so")
            (kernels / name).write_text("", encoding="utf-8")

    def kernels(self, *names):
        folder = self.folder / "kernels"
        folder.mkdir()
        (folder / "versions.json").write_text('{"flash-attn-4": "4.0"}', encoding="utf-8")
        for name in names:
            (folder / name).touch()
        return str(folder)

    def test_packed_batches_are_timed_beside_kernels_that_take_them(self):
        kernels = self.kernels("d128_bfloat16_causal_group4_packed.so", "d128_bfloat16_causal_group8_packed.so")
        self.compare("--problems", "packed:4", "--flash4-kernels", kernels)
        rows = self.written()["rows"]
        self.assertEqual(["seq_lens_kv" in row["problem"] for row in rows], [False, False, False, True])
        self.assertEqual(set(rows[0]["peers"]), {"fa2", "fa3", "fa4", "flashinfer"}, rows[0]["notes"])
        self.assertEqual(rows[0]["peers"]["flashinfer"]["kernel"], "flashinfer prefill")
        self.assertIn("no ", rows[2]["notes"]["fa4"])  # 16 heads of 64 columns: no library
        self.assertEqual(rows[3]["notes"]["cudnn"], "no packed batches")
        self.assertTrue(all(row["candidates"][row["best"]]["family"] == "flash_sm90" for row in rows))

    def test_pages_are_timed_in_the_rounds_of_the_contiguous_cache(self):
        done = self.compare("--problems", "pages:2", "--flash4-kernels",
                            self.kernels("d128_bfloat16_full_group4_pages.so"))
        rows = self.written()["rows"]
        self.assertEqual([row["problem"].get("page_size", 0) for row in rows], [0, 16, 64] * 2)
        self.assertEqual([row["group"] for row in rows], [0] * 3 + [1] * 3)
        self.assertEqual(["of_first" in row for row in rows], [False, True, True] * 2)
        self.assertEqual(set(rows[0]["peers"]), {"fa2", "cudnn", "fa3", "flashinfer"}, rows[0]["notes"])
        self.assertEqual(set(rows[1]["peers"]), {"fa4", "flashinfer"}, rows[1]["notes"])
        self.assertEqual(rows[1]["notes"]["fa3"], "contiguous K and V")
        self.assertIn("/first, 4 problems: geometric mean 1.000, least 1.000", done.stdout)

    def test_latent_keys_are_timed_beside_mla_decoding(self):
        self.compare("--problems", "latent:1")
        contiguous, pages = self.written()["rows"]
        self.assertEqual([row["peers"]["flashinfer"]["kernel"] for row in (contiguous, pages)],
                         ["flashinfer mla_fa3_pages_64"] * 2)
        self.assertEqual([row["problem"].get("page_size", 0) for row in (contiguous, pages)], [0, 64])
        for row in (contiguous, pages):
            self.assertEqual(set(row["peers"]), {"flashinfer"}, row["notes"])
        self.assertEqual(contiguous["notes"]["fa3"], "V as a tensor of its own")

    def test_a_group_goes_on_without_a_problem_that_fails(self):
        self.environment["REFUSED"] = "16"  # pages of 16 keys
        self.compare("--problems", "pages:1", "--peers", "fa2", code=1)
        self.assertEqual([row["best"] is None for row in self.written()["rows"]], [False, True, False])
        self.environment["REFUSED"] = "0"
        self.compare("--problems", "pages:1", "--peers", "fa2", "--resume", code=1)
        self.assertEqual(len(self.written()["rows"]), 3)

    def test_two_head_dimensions(self):
        kernels = self.kernels("d192x128_bfloat16_causal_group1.so")
        self.compare("--problems", "head_dims:1", "--flash4-kernels", kernels)
        row, = self.written()["rows"]
        self.assertEqual(set(row["peers"]), {"cudnn", "fa3", "fa4", "flashinfer"}, row["notes"])
        self.assertEqual(row["notes"], {"fa2": "one head dimension"})

    def test_scores(self):
        self.compare("--problems", "scores", "--flash4-kernels",
                     self.kernels("d256_bfloat16_causal_group2_softcap50.so",
                                  "d64_bfloat16_causal_group8_window_sinks.so"))
        softcap, window, sinks, both = self.written()["rows"]
        self.assertEqual(set(softcap["peers"]), {"fa3", "fa4", "flashinfer"}, softcap["notes"])
        self.assertEqual(set(window["peers"]), {"fa2", "flashinfer"}, window["notes"])
        self.assertEqual(set(sinks["peers"]), set(), sinks["notes"])
        self.assertEqual(set(both["peers"]), {"fa4"}, both["notes"])

    def test_a_problem_that_fails_costs_its_row_alone(self):
        self.environment["REFUSED"] = "4096"
        done = self.compare("--problems", "table:3", "--peers", "fa2,cudnn", code=1)
        rows = self.written()["rows"]
        self.assertEqual([row["best"] is None for row in rows], [False, True, False])
        self.assertIn("ended with 1: fatune: no configuration runs", rows[1]["notes"]["failed"])
        self.assertIn("/best, 2 problems", done.stdout)

    def test_after_a_kernel_that_ends_the_context_the_script_goes_on(self):
        self.environment["FATUNE_FAKE_KERNEL_ERROR"] = "700@8"  # in the second problem of a process
        done = self.compare("--problems", "table:4", "--peers", "fa2", code=1)
        rows = self.written()["rows"]
        self.assertEqual([row["best"] is None for row in rows], [False, True, False, True])
        self.assertIn("starting again: the GPU's context has ended", done.stderr)
        self.assertTrue(self.written()["complete"])

    def test_a_peer_that_ends_the_context_is_left_out_of_the_problem(self):
        self.environment |= {"FAKE_TORCH_CUDNN_ERROR": "illegal access", "FAKE_TORCH_CUDNN_ENDS_CONTEXT": "1"}
        self.figures.write_text('{"problems": "table:2", "rows": [1, 2, 3]}', encoding="utf-8")  # of an earlier run
        done = self.compare("--problems", "table:2", "--peers", "fa2,cudnn,fa3")
        for row in self.written()["rows"]:
            self.assertEqual((set(row["peers"]), row["notes"]), ({"fa2", "fa3"}, {"cudnn": "left out by --without"}))
            self.assertIsNotNone(row["best"])
        self.assertEqual(done.stderr.count("starting again: cudnn ended the GPU's context"), 2)

    def test_a_time_limit_ends_the_run_with_what_there_is(self):
        self.compare("--problems", "table:1", "--peers", "fa2")
        self.figures.write_text(self.figures.read_text(encoding="utf-8").replace('"table:1"', '"table:3"'),
                                encoding="utf-8")
        done = self.compare("--problems", "table:3", "--peers", "fa2", "--resume", "--time-limit", "1e-9")
        self.assertIn("stopped after 1 of 3 problems: --time-limit 1e-09", done.stderr)
        self.assertIn("/fa2, 1 problems", done.stdout)
        self.compare("--problems", "table:3", "--peers", "fa2", "--resume")
        self.assertEqual(len(self.written()["rows"]), 3)

    def test_the_real_program_sweeps(self):
        self.environment |= {"FATUNE_WORKER": WORKER, "FATUNE_FAKE_WORKER": '{"us": {"(BF16, 128, 8, 128, 3, 1)": 50}}'}
        self.compare("--problems", "table:1", "--peers", "fa2", "--sweep", "--family flash_decode --space ci",
                     fatune=FATUNE)
        row, = self.written()["rows"]
        self.assertEqual(row["best"], "(BF16, 128, 8, 128, 3, 1): parts_128+shared_sums")
        self.assertEqual(row["problem"]["seq_len_kv"], 1024)

    def test_errors_are_one_line(self):
        for problems in ("all", "random", "random:x", "table:-1"):
            done = self.compare("--problems", problems, code=2)
            self.assertIn("is none of table[:COUNT], random:SEED[:COUNT], untuned:SEED[:COUNT], pages", done.stderr)
        self.figures.write_text("{}", encoding="utf-8")
        done = self.compare("--resume", code=1)
        self.assertIn("--resume needs the file of an earlier run", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

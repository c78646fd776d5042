"""Tests scripts/compare_problems as a whole, with a fake PyTorch and a fake driver.

usage: compare_problems_test.py SCRIPT FATUNE LIBCUDA WORKER
"""
import json
import os
import pathlib
import subprocess
import sys
import unittest

from script_modules import FolderTest

HERE = pathlib.Path(__file__).resolve().parent
SCRIPT, FATUNE, LIBCUDA, WORKER = sys.argv[1:5] if len(sys.argv) > 4 else ("", "", "", "")
CONFIG = "(BF16, {d_head}, {rows}, 64, 2, 1): parts_256"
LATENT = "(BF16, 576, 64, 64, 2, 1): parts_2048"
PREFILL = "(ws, BF16, {d_head}, 128, 64, 2, 8, 2): overlap+lazy+slots_1+cluster_1+persistent+dynamic"
# A program that compiles and predicts as fatune does, or predicts CHOICE. Its sweeps end at once, or fail where REFUSED
# is an option.
QUICK = f"""#!{sys.executable}
import json, os, pathlib, sys
arguments = sys.argv[1:]
of = dict(zip(arguments, arguments[1:]))
if arguments[0] == "predict" and "CHOICE" in os.environ:
    print(os.environ["CHOICE"])
    sys.exit(0 if '"config": "' in os.environ["CHOICE"] else 5)
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
family = of.get("--family", "flash_sm90")
if family == "flash_sm90":
    config = {PREFILL!r}.format(d_head=of["--dhead"])
winner = {{"family": family, "config": config, "time_us": 100.0, "literature_tflops": 10.0}}
(pathlib.Path(of["--out"]) / "best_configs.json").write_text(json.dumps(
    {{"device": {{"name": "Fake H200"}}, "problems": [{{"problem": problem, "ranking": [winner]}}]}}))
"""


# A package whose kernels are PyTorch's.
PACKAGE = """
import collections, torch
Explanation = collections.namedtuple("Explanation", "step config reason untuned tried")
calls = collections.Counter()
def flash_attn_func(q, k, v, softmax_scale, causal, softcap, learnable_sink):
    calls[k.shape] += 1
    of = [one.transpose(1, 2) for one in (q, k, v)]
    return torch.ops.aten._scaled_dot_product_flash_attention.default(*of, 0.0, causal, scale=softmax_scale)[0].transpose(1, 2)
def explain(q, k, v, like, **options):
    return Explanation("{step}", "(K)", "", "{untuned}", 8 if calls[k.shape] >= 5 else 0)
"""


class CompareProblems(FolderTest):
    def setUp(self):
        super().setUp()
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

    def test_peers_alone_need_no_program(self):
        done = self.compare("--problems", "table:2", "--peers", "fa2,cudnn,fa3", "--peers-alone", fatune="/nowhere")
        row = self.written()["rows"][0]
        self.assertEqual((row["best"], row["candidates"]), (None, {}))
        times = {name: round(of["median_ms"], 6) for name, of in row["peers"].items()}
        self.assertEqual(times, {"fa2": 0.2, "cudnn": 0.05, "fa3": 0.08})
        self.assertAlmostEqual(row["peers"]["fa2"]["tflops"], 2 * 32 * 1024 * 2 * 128 / 0.2e-3 / 1e12)
        self.assertIn(" none", done.stdout.splitlines()[3])
        done = self.compare("--problems", "table:1", "--peers-alone", "--choice", code=2)
        self.assertIn("--peers-alone: without --choice", done.stderr)

    def predict(self, config, device="Fake H200", **members):
        """Has the program predict this."""
        one = dict.fromkeys(("untuned", "reason", "predicted_us", "expected_regret_percent", "worst_regret_percent"))
        one |= {"config": config, "family": config and "flash_decode", "step": "same bucket" if config else "refused"}
        self.environment["CHOICE"] = json.dumps({"device": {"name": device}, "predictions": [one | members]})

    def test_what_fatune_chooses_is_timed_beside_the_winner(self):
        chosen = "(BF16, 128, 8, 64, 2, 1): parts_512"
        self.predict(chosen, expected_regret_percent=0.5)
        done = self.compare("--problems", "table:2", "--peers", "fa2,cudnn", "--choice")
        written = self.written()
        for row in written["rows"]:
            choice = row["choice"]
            self.assertEqual(row["best"], CONFIG.format(d_head=128, rows=8))
            self.assertEqual(list(row["candidates"]), [row["best"]])
            self.assertEqual((choice["config"], choice["step"], choice["range"]), (chosen, "same bucket", "tuned"))
            self.assertEqual([round(choice[name], 6) for name in ("median_ms", "regret_percent", "expected_regret_percent",
                                                                  "slower_than_best_peer_percent")], [0.1, 0, 0.5, 100])
        self.assertEqual(written["choices"]["tuned"]["slower"], 2)
        self.assertEqual(written["choices"]["outside"]["problems"], 0)
        row = done.stdout.splitlines()[3]
        self.assertIn(f"  100.0        0.500      0.00        0.50    tuned  {CONFIG.format(d_head=128, rows=8)}", row)
        self.assertTrue(row.endswith(f"{chosen:88}  same bucket"), row)
        self.assertIn("choice in the tuned range, 2 problems: slower than the best peer on 2 of 2, by 100.00 % at most",
                      done.stdout)
        self.assertIn("; regret on 2: median 0.00 %, worst 0.00 %", done.stdout)

    def install_package(self, step="predicted", untuned=""):
        """Installs a package whose trials end at the fifth call."""
        site = self.folder / "site"
        (site / "fatune_attention-0.1.0.dist-info").mkdir(parents=True)
        (site / "fatune_attention-0.1.0.dist-info" / "METADATA").write_text(
            "Metadata-Version: 2.1\nName: fatune_attention\nVersion: 0.1.0\n", encoding="utf-8")
        (site / "fatune_attention.py").write_text(PACKAGE.format(step=step, untuned=untuned), encoding="utf-8")
        self.environment["PYTHONPATH"] += f":{site}"

    def test_the_package_is_called_until_its_trials_end_and_then_timed(self):
        self.install_package()
        done = self.compare("--problems", "table:2", "--peers", "fa2,cudnn", "--package")
        written = self.written()
        for row in written["rows"]:
            of = row["package"]
            self.assertEqual(list(row["peers"]), ["fa2", "cudnn"])
            self.assertEqual((of["config"], of["step"], of["range"], of["tried"], of["calls"]),
                             ("(K)", "predicted", "tuned", 8, 5))
            self.assertEqual([round(of[name], 6) for name in ("median_ms", "slower_than_best_peer_percent",
                                                              "regret_percent")], [0.2, 300, 100])
        self.assertEqual(written["packages"]["tuned"]["slower"], 2)
        self.assertNotIn("choices", written)
        self.assertIn("package in the tuned range, 2 problems: slower than the best peer on 2 of 2, by 300.00 % at most",
                      done.stdout)

    def test_a_package_that_tries_nothing_is_not_waited_for(self):
        self.install_package(step="exact")
        self.compare("--problems", "table:1", "--peers", "fa2", "--package")
        self.assertEqual(self.written()["rows"][0]["package"]["calls"], 0)

    def test_a_package_that_is_not_installed_is_an_error(self):
        done = self.compare("--problems", "table:1", "--peers", "fa2", "--package", code=1)
        self.assertIn("--package: fatune_attention cannot be imported", done.stderr)

    def test_a_choice_that_is_the_winner_is_timed_once(self):
        self.predict(CONFIG.format(d_head=128, rows=8), untuned="heads / kv_heads: 8; tuned: 1 to 4")
        done = self.compare("--problems", "table:1", "--peers", "fa2", "--choice")
        row, = self.written()["rows"]
        self.assertEqual((row["choice"]["config"], row["choice"]["regret_percent"]), (row["best"], 0))
        self.assertEqual((row["choice"]["range"], row["choice"]["untuned"]), ("outside", "heads / kv_heads: 8; tuned: 1 to 4"))
        self.assertIn("choice outside the tuned range, where packages use PyTorch, 1 problems: slower than the best peer on "
                      "0 of 1; regret on 1", done.stdout)
        self.assertNotIn("in the tuned range", done.stdout)

    def test_a_choice_that_fails_does_not_cost_the_winner(self):
        for config, reason, code in (("(BF16, 128, 7, 64, 2, 1)", "ended with", 1), (None, None, 0)):
            self.predict(config)
            done = self.compare("--problems", "table:1", "--peers", "fa2", "--choice", code=code)
            row, = self.written()["rows"]
            self.assertIsNotNone(row["best"])
            self.assertIsNone(row["choice"]["median_ms"])
            self.assertEqual(set(row["notes"]), {config} if config else set())
            self.assertIn(f"{config} is not timed: " if config else "", done.stderr)
            self.assertEqual(row["choice"]["range"], "tuned" if config else "outside")

    def test_a_choice_for_another_gpu_is_an_error(self):
        self.predict(CONFIG.format(d_head=128, rows=8), device="NVIDIA H100")
        self.compare("--problems", "table:1", "--peers", "fa2", "--choice", code=1)
        row, = self.written()["rows"]
        self.assertIn("it chose for NVIDIA H100, and this GPU is Fake H200", row["notes"]["failed"])

    def test_the_real_program_chooses_for_prefill_and_for_lengths(self):
        for problems, family in (("untuned:1:2", "flash_sm90"), ("random:7:2", "flash_decode")):
            self.compare("--problems", problems, "--peers", "fa3", "--choice")
            rows = self.written()["rows"]
            self.assertEqual([row["choice"]["family"] for row in rows], [family] * 2)
            self.assertTrue(all(row["choice"]["median_ms"] for row in rows), rows)
            self.assertEqual(self.written()["choices"]["tuned"]["regrets"], 2)

    def test_a_run_with_choices_goes_on_after_a_kernel_that_ends_the_context(self):
        self.predict("(BF16, 128, 8, 64, 2, 1): parts_512")
        self.environment["FATUNE_FAKE_KERNEL_ERROR"] = "700@14"  # in the second problem of a process
        done = self.compare("--problems", "table:3", "--peers", "fa2", "--choice", code=1)
        self.assertIn("starting again: the GPU's context has ended", done.stderr)
        self.assertEqual([bool(row.get("choice", {}).get("median_ms")) for row in self.written()["rows"]],
                         [True, False, True])

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
        done = self.compare("--problems", "table:3", "--peers", "fa2", "--resume", "--turn", "0.01", code=1)
        self.assertIn("its --turn is None", done.stderr)
        self.compare("--problems", "table:3", "--peers", "fa2", "--resume")
        self.assertEqual(len(self.written()["rows"]), 3)

    def test_the_real_program_sweeps(self):
        self.environment |= {"FATUNE_WORKER": WORKER, "FATUNE_FAKE_WORKER": '{"us": {"(BF16, 128, 8, 128, 3, 1)": 50}}'}
        kept = self.folder / "kept"
        self.compare("--problems", "table:2", "--peers", "fa2", "--sweep", "--family flash_decode --space ci",
                     "--results", str(kept), fatune=FATUNE)
        row, other = self.written()["rows"]
        for number, one in enumerate((row, other)):
            swept, = json.loads((kept / f"sweep_{number:03}.json").read_text(encoding="utf-8"))["problems"]
            self.assertEqual(swept["problem"], one["problem"])
            self.assertEqual(swept["ranking"][0]["config"], one["best"])
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

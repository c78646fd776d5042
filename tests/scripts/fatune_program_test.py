"""Tests how scripts/lib/fatune_program.py reads fatune's files, and how it starts fatune.

usage: fatune_program_test.py FATUNE
"""
import json
import os
import pathlib
import subprocess
import sys
import unittest
import unittest.mock

from script_modules import ROOT, FolderTest, run_tests
import fatune_program

PROBLEM = {"batch": 2, "seq_len": 512, "heads": 4, "d_head": 64, "dtype": "FP16", "causal": False}
WINNER = {"config": "(A)", "time_us": 50.0, "literature_tflops": 2.0}


def best(device, *entries, family="toy"):
    return {"device": {"name": device}, "problems": [
        {**one, "ranking": [{"family": family, **winner} for winner in one["ranking"]]} for one in entries]}


def entry(winner, **members):
    return {"problem": {**PROBLEM, **members}, "ranking": [winner] if winner else []}


class Options(unittest.TestCase):
    def test_a_problem_is_said_by_options(self):
        problem = {**PROBLEM, "causal": True, "kv_heads": 2, "lse": False, "softmax_scale": 0.5}
        self.assertEqual(fatune_program.problem_options(problem),
                         ["--batch", "2", "--seq", "512", "--heads", "4", "--causal", "--kv-heads", "2",
                          "--softmax-scale", "0.5"])
        lengths = {"seq_lens_kv": "uniform:1-9:0"}
        self.assertEqual(fatune_program.problem_options(lengths), ["--seq-kv-lens", "uniform:1-9:0"])
        self.assertEqual(fatune_program.problem_options({"seq_lens_kv": ""}), [])
        packed = {"batch": 2, "seq_len": 9, "seq_len_kv": 9, "seq_lens": "9,1"}
        self.assertEqual(fatune_program.problem_options(packed), ["--batch", "2", "--seq-lens", "9,1"])
        self.assertEqual(fatune_program.problem_label(problem | {"lse": True}),
                         "b2 s512 h4 d64 FP16 causal kv_heads=2 lse=True softmax_scale=0.5")

    def test_a_label_leaves_out_what_is_usual(self):
        usual = {**PROBLEM, "seq_len_kv": 512, "kv_heads": 4, "d_head_v": 64, "window": 0,
                 "softmax_scale": 0.1250000001, "lse": False, "layout": "bshd", "seq_lens_kv": "",
                 "page_size": 0}
        self.assertEqual(fatune_program.problem_label(usual), "b2 s512 h4 d64 FP16")
        self.assertEqual(fatune_program.problem_label({**usual, "seq_len_kv": 100, "layout": "bhsd"}),
                         "b2 s512 h4 d64 FP16 seq_len_kv=100 layout=bhsd")

    def test_lengths_are_a_list(self):
        problem = {**PROBLEM, "seq_len_kv": 900, "seq_lens_kv": ",".join(["900", *["17"] * 40])}
        self.assertEqual(sum(fatune_program.key_lengths(problem)), 900 + 40 * 17)
        self.assertEqual(fatune_program.total_keys({**PROBLEM, "seq_len_kv": 900}), 1800)
        self.assertIsNone(fatune_program.key_lengths({**PROBLEM, "seq_lens_kv": ""}))
        self.assertIn(" seq_lens_kv=900,17,17,17,17,17,17,17,17...", fatune_program.problem_label(problem))
        packed = {**PROBLEM, "seq_lens": "3,5"}
        self.assertEqual(fatune_program.query_lengths(packed), [3, 5])
        self.assertEqual(fatune_program.total_keys(packed), 8)
        self.assertEqual(fatune_program.total_keys({**packed, "seq_lens_kv": "3,50"}), 53)
        with self.assertRaisesRegex(fatune_program.ProgramError, "seq_lens is 'zipf:1-9': only lists"):
            fatune_program.query_lengths({**PROBLEM, "seq_lens": "zipf:1-9"})
        with self.assertRaisesRegex(fatune_program.ProgramError, "only lists are known here"):
            fatune_program.key_lengths({**PROBLEM, "seq_lens_kv": "uniform:1-9:0"})

    def test_members_are_those_of_fatunes_problems(self):
        schema = json.loads((ROOT / "configs/schema/compile.schema.json").read_text(encoding="utf-8"))
        self.assertEqual(set(fatune_program.OPTIONS), set(schema["properties"]["problem"]["properties"]))

    def test_fatune_has_the_options(self):
        printed = subprocess.run([sys.argv[1], "compile", "--help-all"], capture_output=True, text=True, check=True).stdout
        for option in fatune_program.OPTIONS.values():
            self.assertRegex(printed, rf"\n  {option}\s")

    def test_an_unknown_member_is_an_error(self):
        with self.assertRaisesRegex(fatune_program.ProgramError, "'colour', which is not known"):
            fatune_program.problem_options({**PROBLEM, "colour": 1})


class Winners(FolderTest):
    def setUp(self):
        super().setUp()

    def file(self, content, name="best.json"):
        path = self.folder / name
        path.write_text(json.dumps(content), encoding="utf-8")
        return str(path)

    def test_problems_of_several_files_are_joined(self):
        first = self.file(best("A", entry(WINNER), entry(None, heads=9)), "1.json")
        other = {**WINNER, "config": "(B)", "family": "own"}
        second = self.file(best("B", entry(other), entry(WINNER, heads=8)), "2.json")
        found = fatune_program.winners_by_problem([first, second, first], "A")
        self.assertEqual([(problem["heads"], list(winners)) for problem, winners in found],
                         [(4, ["(A)", "(B)"]), (8, ["(A)"])])
        self.assertEqual([one["family"] for one in found[0][1].values()], ["toy", "own"])

    def test_the_gpu_at_hand_is_chosen(self):
        content = {"runs": [best("A", entry(WINNER)), best("B", entry({**WINNER, "config": "(B)"}))]}
        self.assertEqual(fatune_program.winners_of(self.file(content), "B")[0][1]["config"], "(B)")
        self.assertEqual(fatune_program.winners_of(self.file(content), "C")[0][1]["config"], "(A)")

    def test_bad_files_are_named(self):
        for content in ([], {}, {"runs": []}, {"device": {"name": "A"}, "problems": [{"problem": PROBLEM}]}):
            with self.assertRaisesRegex(fatune_program.ProgramError, "best.json: not a best_configs.json"):
                fatune_program.winners_by_problem([self.file(content)], "A")
        with self.assertRaisesRegex(fatune_program.ProgramError, "name no winner"):
            fatune_program.winners_by_problem([self.file(best("A", entry(None)))], "A")

    def test_flop_are_fatunes(self):
        self.assertEqual(fatune_program.literature_flop(WINNER), 1e8)
        with self.assertRaisesRegex(fatune_program.ProgramError, "was not measured"):
            fatune_program.literature_flop({**WINNER, "time_us": None})


class Same(unittest.TestCase):
    def test_what_a_problem_does_not_say_is_usual(self):
        usual = {**PROBLEM, **fatune_program.usual_details(PROBLEM)}
        self.assertTrue(fatune_program.is_same(PROBLEM, usual))
        self.assertTrue(fatune_program.is_same({**PROBLEM, "softmax_scale": 0.125000001}, usual))
        for member, value in (("heads", 8), ("dtype", "BF16"), ("kv_heads", 2), ("softmax_scale", 0.2)):
            self.assertFalse(fatune_program.is_same({**PROBLEM, member: value}, usual), member)


class Predicted(unittest.TestCase):
    """Without a GPU, predict chooses for an H100."""

    def setUp(self):
        without = unittest.mock.patch.dict(os.environ, FATUNE_LIBCUDA="/nonexistent")
        without.start()
        self.addCleanup(without.stop)

    def test_the_choice(self):
        problem = {**PROBLEM, "dtype": "BF16", "d_head": 128, "seq_len": 4096, "batch": 16, "heads": 16, "causal": True}
        found = fatune_program.predict(sys.argv[1], problem, "NVIDIA H100 80GB HBM3")
        self.assertEqual((found["step"], found["family"], found["untuned"]), ("exact", "flash_sm90", None))
        self.assertIn("BF16, 128", found["config"])

    def test_nothing_eligible_is_no_error(self):
        found = fatune_program.predict(sys.argv[1], {**PROBLEM, "d_head": 40}, "NVIDIA H100 80GB HBM3")
        self.assertEqual((found["step"], found["config"]), ("refused", None))

    def test_another_gpu_and_bad_problems_are_errors(self):
        with self.assertRaisesRegex(fatune_program.ProgramError, "chose for NVIDIA H100 80GB HBM3, and this GPU is A"):
            fatune_program.predict(sys.argv[1], PROBLEM, "A")
        with self.assertRaisesRegex(fatune_program.ProgramError, "ended with 2: "):
            fatune_program.predict(sys.argv[1], {**PROBLEM, "batch": 0}, "A")


if __name__ == "__main__":
    run_tests()

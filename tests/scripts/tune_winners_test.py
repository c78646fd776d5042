"""Tests scripts/tune_winners with a program that writes made-up winners in place of fatune."""
import json
import pathlib
import subprocess
import sys
import unittest

from script_modules import FolderTest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts/tune_winners"

PROGRAM = """#!/usr/bin/env python3
import json, sys
option = dict(zip(sys.argv[2::], sys.argv[3::]))
if option["--batch"] == "13":
    sys.exit("no luck")
result = {"config": "c", "family": "one", "time_us": 2.0, "rank": 1, "tie_group": 1, "samples_us": [1.0],
          "verification": {"method": "gpu", "inputs": [1, 2]}}
of_two = {**result, "family": "two", "time_us": 1.9 if option.get("--seq-kv") == "4096" else 2.9}
ranking = [*({**result, "config": name} for name in "cdefg"), *({**of_two, "config": name} for name in "cd"),
           {**result, "family": "three"}, {**of_two, "config": "far", "time_us": 3.1}]
ranking.sort(key=lambda one: one["time_us"])
problem = {"problem": {"batch": option["--batch"], "keys": int(option.get("--seq-kv", 0)), "budget": option["--budget"],
                       "causal": "--causal" in sys.argv, "space": option.get("--space"),
                       "repeats": option.get("--repeats"), "kv_dtype": option.get("--kv-dtype")}, "ranking": ranking,
           "failures": [{}], "more_ranked": 4, "more_failed": None, "measuring": {}, "audited": [], "audit": [],
           "conditions": {"timeline": [1]}}
run = {"wall_s": 1.5, "busy_s": 1.0, "source_hashes": {option["--family"]: "abc"}, "complete": True,
       "started_at": "2026", "toolchain": {"nvrtc": option["--seq"]},
       "device": {"name": "GPU", "uuid": "1", "free_memory_bytes": 7}, "policy": {"budget_s": 1.5},
       "problems": [problem], "summary": {"winners": [{"winner": "c", "time_us": 2.0, "problem": problem["problem"]}]}}
json.dump(run, open(option["--out"] + "/results.json", "w"))
"""


def sweep(**members):
    return {"family": "flash_decode", "dtype": ["FP16", "BF16"], "d_head": [64], "batch": 1, "heads": 8, "kv_heads": 2,
            "keys": 512, "queries": [1, 8], **members}


class TuneWinners(FolderTest):
    def setUp(self):
        super().setUp()
        self.program = self.folder / "program"
        self.program.write_text(PROGRAM, encoding="utf-8")
        self.program.chmod(0o755)

    def run_script(self, *arguments, code=0):
        done = subprocess.run([sys.executable, str(SCRIPT), *map(str, arguments)], capture_output=True, text=True,
                              check=False)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stderr

    def tune(self, sweeps, *arguments, code=0):
        file = self.folder / "sweeps.json"
        file.write_text(json.dumps({"kept": 3, "kept_of_each_family": 1, "sweeps": sweeps}), encoding="utf-8")
        return self.run_script(file, "--fatune", self.program, "--out", self.folder / "out", *arguments, code=code)

    def merge(self, code=0):
        said = self.run_script(self.folder / "sweeps.json", "--merge", self.folder / "out", "--into",
                               self.folder / "merged.json", code=code)
        return said if code else json.loads((self.folder / "merged.json").read_text(encoding="utf-8"))

    def test_winners_are_merged_without_what_choices_do_not_need(self):
        self.tune([sweep(), sweep(keys=4096, kv_dtype="e4m3")])
        merged = self.merge()
        self.assertEqual([one["problem"] for one in merged["problems"]],
                         [{"batch": "1", "keys": 512, "budget": "6", "causal": False, "space": None, "repeats": None,
                           "kv_dtype": None},
                          {"batch": "1", "keys": 4096, "budget": "6", "causal": False, "space": None, "repeats": None,
                           "kv_dtype": "e4m3"}])
        first = merged["problems"][0]
        self.assertEqual([one["family"] for one in first["ranking"]], ["one"] * 3 + ["two"])
        self.assertEqual((first["more_ranked"], first["more_failed"]), (9, 1))
        self.assertEqual(first["ranking"][0],
                         {"config": "c", "family": "one", "time_us": 2.0, "rank": 1, "tie_group": 1,
                          "samples_us": None, "verification": {"method": "gpu", "inputs": []}})
        self.assertEqual((merged["wall_s"], len(merged["summary"]["winners"])), (3.0, 2))
        schema = json.loads((SCRIPT.parents[1] / "configs/schema/results.schema.json").read_text(encoding="utf-8"))
        self.assertEqual(sorted(merged["summary"]), sorted(schema["properties"]["summary"]["required"]))

    def test_configurations_of_a_problem_that_several_files_have_are_ranked_together(self):
        self.tune([sweep()])
        earlier = json.loads((self.folder / "out/sweep_000.json").read_text(encoding="utf-8"))
        ranking = earlier["problems"][0]["ranking"]
        new = {"config": "new", "time_us": 1.5}
        later = {**earlier, "started_at": "2027",
                 "problems": [{**earlier["problems"][0], "ranking": [{**ranking[0], **new},
                                                                     {**ranking[1], "time_us": 1.9}]}]}
        (self.folder / "out/a_later.json").write_text(json.dumps(later), encoding="utf-8")
        (problem,) = self.merge()["problems"]
        self.assertEqual([(one["config"], one["time_us"], one["rank"], one["tie_group"]) for one in problem["ranking"]],
                         [("new", 1.5, 1, 1), ("d", 1.9, 2, 1), ("c", 2.0, 3, 3)])

    def test_the_winner_of_several_files_leads_the_ties_of_its_own(self):
        self.tune([sweep()])
        file = self.folder / "out/sweep_000.json"
        earlier = json.loads(file.read_text(encoding="utf-8"))
        (report,), start = earlier["problems"], earlier["problems"][0]["ranking"][0]

        def run(*times, **members):
            ranking = [{**start, "config": config, "time_us": us, "tie_group": group} for config, us, group in times]
            return {**earlier, **members, "problems": [{**report, "ranking": ranking}]}

        file.write_text(json.dumps(run(("c", 1.0, 1), ("d", 1.1, 2), ("e", 1.2, 2))), encoding="utf-8")
        (self.folder / "out/later.json").write_text(json.dumps(run(("c", 1.5, 1), started_at="2027")), encoding="utf-8")
        (problem,) = self.merge()["problems"]
        self.assertEqual([(one["config"], one["rank"], one["tie_group"]) for one in problem["ranking"]],
                         [("d", 1, 1), ("e", 2, 1), ("c", 3, 3)])

    def test_a_sweep_that_fails_costs_itself_alone_and_is_tried_again(self):
        said = self.tune([sweep(batch=13), sweep()], code=1)
        self.assertIn("ended with 1: no luck", said)
        self.assertEqual(len(self.merge()["problems"]), 1)
        said = self.tune([sweep(batch=2), sweep()])
        self.assertIn("1 of 2", said)
        self.assertNotIn("2 of 2", said)
        self.assertEqual(len(self.merge()["problems"]), 2)

    def test_prefill_has_as_many_keys_as_queries_and_may_be_causal(self):
        prefill = sweep(causal=True, space="cover")
        del prefill["keys"]
        self.tune([prefill], "--repeats", 16)
        self.assertEqual(self.merge()["problems"][0]["problem"],
                         {"batch": "1", "keys": 0, "budget": "6", "causal": True, "space": "cover", "repeats": "16",
                          "kv_dtype": None})

    def test_sweeps_that_are_not_there_are_an_error(self):
        said = self.run_script("prefil", "--out", self.folder / "out", code=1)
        self.assertIn("no sweeps 'prefil': No such file or directory; give decode, decode_8_bits, prefill or a file", said)

    def test_it_may_begin_later_and_end_earlier(self):
        self.assertIn("stopped before sweep 2 of 2", self.tune([sweep(), sweep()], "--from", 2, "--time-limit", 0))

    def test_a_merged_file_can_be_merged_again(self):
        self.tune([sweep(), sweep(keys=4096)])
        merged = self.merge()
        for file in (self.folder / "out").iterdir():
            file.unlink()
        (self.folder / "merged.json").rename(self.folder / "out/before.json")
        self.assertEqual(self.merge(), merged)

    def test_results_of_different_builds_are_refused(self):
        self.tune([sweep(), sweep(queries=[1])])
        self.assertIn("'toolchain' differs between the sweeps", self.merge(code=1))


if __name__ == "__main__":
    unittest.main()

"""Tests scripts/fit_estimate: that its models are those of the program, and that it finds numbers again.

fit_estimate_test.py FATUNE
"""
import importlib.machinery
import importlib.util
import json
import subprocess
import sys

from script_modules import ROOT, FolderTest, run_tests

try:
    import numpy as np
    import scipy.optimize  # noqa: F401
except ImportError as error:
    print(f"fit_estimate_test: skipped: {error}", file=sys.stderr)
    sys.exit(77)

import estimate_model
import family_expressions
import fatune_program

SCRIPT = ROOT / "scripts/fit_estimate"
DEVICE = {"sm_count": 132, "clock_khz": 1980000, "arch": "sm_90a"}
PROBLEMS = [{"dtype": "BF16", "batch": batch, "seq_len": queries, "heads": heads, "kv_heads": kv_heads, "d_head": d_head,
             "causal": queries > 1, "seq_len_kv": keys}
            for batch, queries, keys, heads, kv_heads, d_head in
            ((1, 1, 4096, 32, 8, 128), (6, 1, 44953, 16, 4, 64), (4, 40, 9139, 24, 8, 128), (2, 16, 20000, 16, 1, 256))]


def fit_estimate():
    loader = importlib.machinery.SourceFileLoader("fit_estimate", str(SCRIPT))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


class FitEstimate(FolderTest):
    def estimates(self, problem, family):
        """Returns results as a sweep writes them, with the program's estimates as times."""
        command = [sys.argv[1], "list", "--family", family, *fatune_program.whole_problem_options(problem), "--arch", "sm_90a",
                   "--format", "json", "--config-file", "none"]
        listed = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        names = [one["name"] for one in self.families[family]["parameters"]]
        enums = {one["name"]: one["values"] for one in self.families[family]["parameters"] if one["type"] == "enum"}
        return [{"family": family, "config": one["config"], "time_us": one["estimate_us"], "samples": 8,
                 "parameters": one["parameters"],
                 "values": [enums[name][one["parameters"][name]] if name in enums else int(one["parameters"][name])
                            for name in names]}
                for one in listed["kept"] if one["estimate_us"]]

    def setUp(self):
        super().setUp()
        self.families = {name: json.loads((ROOT / "kernels" / name / "family.json").read_text(encoding="utf-8"))
                         for name in ("flash_decode", "flash_sm90")}

    def results(self, family):
        problems = [{"problem": {**fatune_program.usual_details(one), **one}, "ranking": self.estimates(one, family)}
                    for one in PROBLEMS]
        file = self.folder / f"{family}.json"
        file.write_text(json.dumps({"device": DEVICE, "problems": problems}), encoding="utf-8")
        return file

    def fit_of(self, family):
        module = fit_estimate()
        model = estimate_model.EstimateModel(family, self.folder)
        options = module.argparse.Namespace(family=family, times=[self.results(family)], arch="sm_90a")
        return module.Fit(model, *module.recorded(options, model.family), deviation=1.0)

    def test_models_are_those_of_the_program(self):
        for family in self.families:
            fit = self.fit_of(family)
            self.assertGreater(len(fit.log_us), 50)
            difference, _ = fit.residuals(fit.start)
            self.assertLess(np.max(np.abs(difference)), 1e-6, family)

    def test_numbers_are_found_again(self):
        fit = self.fit_of("flash_decode")
        true = fit.start.copy()
        fit.start = true * np.where(np.arange(len(true)) % 2, 1.1, 0.9)
        before, _ = fit.residuals(fit.start)
        after, _ = fit.residuals(fit.solve(np.ones(fit.problems), 15))
        self.assertLess(np.std(after), 0.25 * np.std(before))

    def test_numbers_that_are_fitted(self):
        for text, before, fitted in (("0.29", "", True), ("1454", "a + ", True), ("65536", "x / ", False), ("0.7", "", False),
                                     ("576", "d_head == ", False), ("3", "", False), ("1.018", "b ? ", True)):
            self.assertEqual(estimate_model.is_fitted(text, before), fitted, text)

    def test_expressions(self):
        names = {"a": np.array([1.0, 4.0]), "b": 3.0}
        for text, values in (("a + b * 2 ^ 2 ^ 1", (13, 16)), ("a > b ? -a : b % 2", (1, -4)),
                             ("max(a, 2, b) - ceil_div(a, b)", (2, 2)), ("!(a == 1 || b < 0) && is_pow2(a)", (0, 1))):
            expression = family_expressions.Expression(text)
            numbers = [float(number) for number, _ in expression.numbers]
            self.assertEqual(tuple(expression(names, numbers)), values, text)
        for text in ("a +", "a b", "unknown(a)", "a $ b", "(a"):
            with self.assertRaises(ValueError, msg=text):
                family_expressions.Expression(text)

    def test_numbers_are_written_and_nothing_else(self):
        model = estimate_model.EstimateModel("flash_decode", self.folder)
        original = model.file.read_text(encoding="utf-8")
        model.file = self.folder / "family.json"
        model.file.write_text(original, encoding="utf-8")
        model.write(1.5 * model.start(), "nowhere")
        written = json.loads(model.file.read_text(encoding="utf-8"))
        self.assertEqual(written["estimate"]["model"]["source"], "nowhere")
        self.assertNotEqual(written["estimate"]["model"]["quantities"], self.families["flash_decode"]["estimate"]["model"]["quantities"])
        del written["estimate"], self.families["flash_decode"]["estimate"]
        self.assertEqual(written, self.families["flash_decode"])


if __name__ == "__main__":
    run_tests()

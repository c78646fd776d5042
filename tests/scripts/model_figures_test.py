"""Tests scripts/lib/model_figures.py and model_configs.py, which need no PyTorch."""
import collections
import json
import pathlib
import tempfile
import unittest

import script_modules
import model_configs
import model_figures

Explanation = collections.namedtuple("Explanation", "step config reason untuned", defaults=("", "", ""))


class Errors(unittest.TestCase):
    def test_the_distance_of_bf16_numbers(self):
        for value, ulp in ((1.0, 2**-7), (1.99, 2**-7), (2.0, 2**-6), (0.75, 2**-8), (100.0, 0.5), (0.0, 0.0)):
            self.assertEqual(model_figures.bf16_ulp(value), ulp)

    def test_the_limit_is_twice_the_rounded_error_and_at_least_an_ulp(self):
        self.assertEqual(model_figures.limit(0.1, 1.0), 0.2)
        self.assertEqual(model_figures.limit(0.0, 1.0), 2**-7)

    def judged(self, exact, rounded):
        return model_figures.with_limits({"prefill": {"exact": exact, "rounded": rounded}}, {"prefill": 0.1},
                                         {"prefill": 1.0})

    def test_both_differences_must_keep_it(self):
        for exact, rounded, right in ((0.2, 0.2, True), (0.21, 0.0, False), (0.0, 0.21, False), (float("inf"), 0.0, False)):
            phases = self.judged(exact, rounded)
            self.assertEqual(model_figures.agrees(phases), right)
            self.assertEqual(phases["prefill"]["limit"], 0.2)


class Times(unittest.TestCase):
    def rounds(self, prefill, decode, seconds):
        return [{"seconds": seconds, "tokens": 100, "attention_us": [prefill * scale, decode, decode]}
                for scale in (1.0, 3.0, 2.0)]

    def test_medians_of_the_first_step_and_the_others(self):
        self.assertEqual(model_figures.times_of(self.rounds(10.0, 4.0, 0.5)),
                         {"prefill_us": 20.0, "decode_us": 8.0, "attention_us": 28.0, "tokens_per_s": 200.0})

    def runs(self):
        phases = model_figures.with_limits({"prefill": {"exact": 0.1, "rounded": 0.1}, "decode": {"exact": 9.0, "rounded": 0.1}},
                                           {"prefill": 0.1, "decode": 0.1}, {"prefill": 1.0, "decode": 1.0})
        judged = {"phases": phases, "rms_ratio": {"prefill": 0.9, "decode": 1.1}, "same_tokens": 7, "tokens": 8}
        return {"default": {"implementation": "sdpa", **judged, "times": model_figures.times_of(self.rounds(10.0, 4.0, 0.5))},
                "fatune": {"implementation": "fatune", **judged, "times": model_figures.times_of(self.rounds(5.0, 2.0, 0.4))}}

    def test_ratios_to_the_default(self):
        runs = model_figures.with_ratios(self.runs())
        self.assertEqual([round(runs["fatune"][name], 9) for name in ("speedup", "tokens_ratio")], [2.0, 1.25])
        self.assertEqual(runs["default"]["speedup"], 1.0)

    def test_the_table(self):
        head, default, fatune = model_figures.table(model_figures.with_ratios(self.runs()))
        self.assertEqual(head.split()[:2], ["attention", "prefill"])
        self.assertIn("default (sdpa)", default)
        self.assertEqual(fatune.split()[2:], ["10.0", "4.0", "14.0", "2.000", "250", "1.250", "0.1/0.2", "9/0.2", "1.10", "7/8", "NO"])
        self.assertEqual(len({len(line) for line in (head, default, fatune)}), 1)

    def test_without_times_there_is_no_number(self):
        runs = {name: {key: value for key, value in run.items() if key != "times"} for name, run in self.runs().items()}
        self.assertEqual(model_figures.table(runs)[1].split()[2:8], ["-"] * 6)


class Calls(unittest.TestCase):
    def test_who_computes_a_call(self):
        for explanation, refusal, expected in (
                (None, "attn_mask is given", (False, "attn_mask is given")),
                (None, "", (False, "the operator was not called")),
                (Explanation("refused", reason="no family"), "", (False, "no family")),
                (Explanation("nearest", "(x)", untuned="queries: 300; tuned: 512 to 16384"), "",
                 (False, "no tuned problem is like the call: queries")),
                (Explanation("exact", "(x)"), "", (True, "(x) (exact)"))):
            self.assertEqual(model_figures.computed_by(explanation, refusal), expected)

    def test_lines(self):
        counts = {("prefill", (True, "(x) (exact)")): 4, ("decode", (False, "attn_mask is given")): 60}
        self.assertEqual(model_figures.call_lines(counts),
                         ["4 of 64 calls of attention are computed by kernels of the package",
                          "      60 decode  PyTorch: attn_mask is given", "       4 prefill (x) (exact)"])
        self.assertEqual(model_figures.call_rows(counts)[0],
                         {"phase": "prefill", "by_kernel": True, "detail": "(x) (exact)", "calls": 4})


class Configs(unittest.TestCase):
    def test_attention_is_the_presets(self):
        gemma = model_configs.settings_of("gemma-2-9b")
        self.assertEqual({name: gemma[name] for name, _ in model_configs.NAMES.values()},
                         {"num_attention_heads": 16, "num_key_value_heads": 8, "head_dim": 256, "sliding_window": 4096,
                          "attn_logit_softcapping": 50})
        for name in model_configs.MODELS:
            self.assertEqual(model_configs.settings_of(name)["model_type"], model_configs.MODELS[name]["model_type"])

    def test_files(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "config.json"
            for text, wrong in (({"model_type": "llama"}, None), ({"heads": 1}, ValueError)):
                file.write_text(json.dumps(text), encoding="utf-8")
                if wrong is None:
                    self.assertEqual(model_configs.settings_of(str(file)), text)
                else:
                    self.assertRaisesRegex(wrong, "model_type", model_configs.settings_of, str(file))
        self.assertRaises(OSError, model_configs.settings_of, "no-such-model")


if __name__ == "__main__":
    script_modules.run_tests()

"""Tests scripts/tune_model on tiny models, on the CPU. The GPU and its clock are fake ones. Skipped (77) without PyTorch
2.10, setuptools or transformers 5.

usage: tune_model_test.py SCRIPT FATUNE RESULTS [LIBCUDA WORKER]
"""
import argparse
import collections
import contextlib
import importlib.machinery
import importlib.util
import io
import json
import os
import pathlib
import subprocess
import sys
import types
import unittest
import unittest.mock

import script_modules
import torch_package

torch_package.skip_without_pytorch()
try:
    import transformers
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(torch_package.SKIPPED)
if int(transformers.__version__.split(".")[0]) < 5:
    print(f"skipped: transformers {transformers.__version__} is older than 5")
    sys.exit(torch_package.SKIPPED)

import torch
import model_configs
import model_figures
import model_runs
import peer_kernels
import peer_setup

SCRIPT, FATUNE, RESULTS = sys.argv[1:4]
LIBCUDA, WORKER = sys.argv[4:6] if len(sys.argv) > 5 else ("", "")
SIZES = {"vocab_size": 500, "hidden_size": 256, "intermediate_size": 64, "num_attention_heads": 4, "head_dim": 64,
         "num_key_value_heads": 2, "max_position_embeddings": 500}
LLAMA = {"model_type": "llama", "num_hidden_layers": 2, **SIZES}
GEMMA = {"model_type": "gemma2", "num_hidden_layers": 2, "sliding_window": 9, **SIZES}  # every second layer has a window
PROMPT, NEW_TOKENS = 7, 5


class InFolder(script_modules.FolderTest):
    def setUp(self):
        super().setUp()
        self.out = self.folder / "out"

    def arguments(self, settings, *more):
        config = self.folder / "config.json"
        config.write_text(json.dumps(settings), encoding="utf-8")
        return list(map(str, ["--model", config, "--out", self.out, "--layers", "0", "--batch", "2", "--prompt", PROMPT,
                              "--new-tokens", NEW_TOKENS, "--fatune", FATUNE, *more]))

    def figures(self):
        return json.loads((self.out / "figures.json").read_text(encoding="utf-8"))


class Script(InFolder):
    def run_script(self, settings, *more, code=0):
        done = subprocess.run([sys.executable, "-B", SCRIPT, *self.arguments(settings, *more)], capture_output=True,
                              text=True, check=False)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertNotIn("Traceback", done.stderr)
        return done

    def test_a_dry_run_goes_through_everything_and_shows_no_time(self):
        done = self.run_script(LLAMA, "--dry-run", "--results", RESULTS)
        self.assertIn("\nsweep: NOT MEASURED, planned 5 problems\n", done.stdout)
        self.assertIn("\nNOT MEASURED: no GPU was used; left out are all times\n", done.stdout)
        figures = self.figures()
        self.assertFalse(figures["measured"])
        self.assertEqual(sum(line["calls"] for line in figures["workload"]), 2 * NEW_TOKENS)
        self.assertEqual(list(figures["attention"]), ["default", "fatune"])
        for run in figures["attention"].values():
            self.assertTrue(model_figures.agrees(run["phases"]))
            self.assertFalse({"times", "rounds", "speedup"} & set(run))
        self.assertEqual({(row["phase"], row["calls"], row["by_kernel"], row["detail"]) for row in figures["calls"]},
                         {("prefill", 2, False, "the tensors are not on a CUDA device"),
                          ("decode", 2 * (NEW_TOKENS - 1), False, "the tensors are not on a CUDA device")})
        self.assertIn("has files already", self.run_script(LLAMA, "--dry-run", code=2).stderr)

    def test_softcaps_are_recorded_of_attention_that_is_not_pytorchs_function(self):
        done = self.run_script(GEMMA, "--dry-run")
        self.assertIn("left out are all times, and the package, for want of measured winners (--results)", done.stdout)
        lines = self.figures()["workload"]
        self.assertEqual({line["softcap"] for line in lines}, {50.0})
        # The prompt, and steps of 8, 9, 10 and 11 keys; those of 9 and more have a mask in the layer with a window.
        self.assertEqual([(line["seq_len"], line.get("seq_len_kv", 7), line["calls"]) for line in lines],
                         [(7, 7, 2), (1, 8, 2), (1, 9, 1), (1, 10, 1), (1, 11, 1)])
        self.assertEqual(list(self.figures()["attention"]), ["default"])

    @unittest.skipIf(torch.cuda.is_available(), "there is a GPU")
    def test_without_a_gpu_nothing_is_measured(self):
        self.assertIn("PyTorch shows no GPU", self.run_script(LLAMA, code=1).stderr)

    def test_wrong_options(self):
        self.assertIn("--new-tokens: at least 2", self.run_script(LLAMA, "--new-tokens", "1", code=2).stderr)
        self.assertIn("model_type", self.run_script({}, code=2).stderr)


FAKE_GPU = {"FATUNE_LIBCUDA": LIBCUDA, "FATUNE_WORKER": WORKER, "FATUNE_FAKE_WORKER": json.dumps({"noise_percent": 1.0})}


@unittest.skipUnless(WORKER, "the fake GPU is not given")
class WithFakeGpu(InFolder):
    """The whole script, in this process. The model stays on the CPU, and a fake worker measures."""

    def setUp(self):
        super().setUp()
        self.patches = contextlib.ExitStack()
        self.addCleanup(self.patches.close)
        self.patches.enter_context(unittest.mock.patch.dict(os.environ, FAKE_GPU))
        self.patches.enter_context(fake_clock())
        self.patches.enter_context(unittest.mock.patch.multiple(
            torch.cuda, get_device_name=lambda: "Fake H200", empty_cache=lambda: None))
        self.patches.enter_context(unittest.mock.patch.object(peer_setup, "import_torch", lambda _: torch))
        loader = importlib.machinery.SourceFileLoader("tune_model", SCRIPT)
        self.script = importlib.util.module_from_spec(importlib.util.spec_from_loader("tune_model", loader))
        loader.exec_module(self.script)
        self.script.DEVICE = "cpu"

    def run_script(self, settings, *more, code):
        said, arguments = io.StringIO(), self.arguments(settings, "--budget", "3", "--rounds", "2", "--layers", "1",
                                                    "--new-tokens", "2", *more)
        with unittest.mock.patch.object(sys, "argv", ["tune_model", *arguments]), contextlib.redirect_stdout(said), \
                self.assertRaises(SystemExit) as end:
            self.script.main()
        self.assertEqual(end.exception.code, code)
        return said.getvalue()

    def test_times_of_the_default_and_the_package(self):
        # Code 1: there are no tensors on a GPU, so that kernels compute no call.
        said = self.run_script(LLAMA, code=1)
        self.assertRegex(said, r"\nsweep: 2 problems in [0-9.]+ s, within 2 minutes\n")
        self.assertNotIn("NOT MEASURED", said)
        figures = self.figures()
        self.assertEqual((figures["measured"], figures["device"]), (True, "Fake H200"))
        self.assertGreater(figures["sweep"]["seconds"], 0)
        self.assertEqual([one["calls"] for one in figures["sweep"]["workload"]["calls"]], [1.0] * 2)
        for run in figures["attention"].values():
            # A layer, and a tick of the fake clock between the events of each call.
            self.assertEqual({name: round(run["times"][name], 6) for name in ("prefill_us", "decode_us", "attention_us")},
                             {"prefill_us": 1.0, "decode_us": 1.0, "attention_us": 2.0})
            self.assertEqual((round(run["speedup"], 6), len(run["rounds"])), (1.0, 2))


def model_of(settings, cache="dynamic"):
    model_runs.register_references()
    options = argparse.Namespace(layers=0, batch=2, prompt=PROMPT, new_tokens=NEW_TOKENS, cache=cache, seed=1)
    return model_runs.Model(settings, options, "cpu")


class Configs(unittest.TestCase):
    def test_transformers_takes_them(self):
        for name in model_configs.MODELS:
            config = transformers.AutoConfig.for_model(**model_configs.settings_of(name))
            self.assertGreater(config.num_hidden_layers, 4)  # of which --layers takes 4 by default


class Outputs(unittest.TestCase):
    def judged(self, attention, cache="dynamic", settings=LLAMA):
        model_runs.register_attention("tested", attention)
        model = model_of(settings, cache)
        model.use(model.usual_attention)
        references = model_runs.References(model, model.logits().argmax(-1).T)
        model.use("tested")
        return references.judge(model.logits(references.tokens))

    def test_pytorchs_attention_agrees(self):
        for cache in ("dynamic", "static"):
            judged = self.judged(transformers.AttentionInterface()["sdpa"], cache)
            self.assertTrue(model_figures.agrees(judged["phases"]), judged)
            self.assertGreater(judged["same_tokens"], judged["tokens"] / 2)

    def test_a_key_that_is_left_out_does_not(self):
        exact = model_runs.stepwise(torch.float32)

        def wrong(module, query, key, value, attention_mask, **options):
            if query.size(2) == 1:  # decoding: the prefill stays right
                key, value = key[:, :, 1:], value[:, :, 1:]
            return exact(module, query, key, value, attention_mask, **options)

        phases = self.judged(wrong)["phases"]
        self.assertEqual([of["agrees"] for of in phases.values()], [True, False])

    def test_neither_does_nan(self):
        exact = model_runs.stepwise(torch.float32)

        def wrong(*arguments, **options):
            o, weights = exact(*arguments, **options)
            return o * float("nan"), weights

        self.assertFalse(model_figures.agrees(self.judged(wrong)["phases"]))

    def test_kernels_of_other_packages(self):
        def make(inputs):
            heads_first = [one.transpose(1, 2) for one in (inputs.q, inputs.k, inputs.v)]
            return lambda: torch.nn.functional.scaled_dot_product_attention(
                *heads_first, is_causal=inputs.causal, scale=inputs.scale, enable_gqa=True).transpose(1, 2)

        attention = model_runs.attention_of_peer(peer_kernels.Peer("fa3", "fa3-fwd 1", make))
        self.assertTrue(model_figures.agrees(self.judged(attention)["phases"]))
        for options in ({"cache": "static"}, {"settings": GEMMA}):
            with self.assertRaises(NotImplementedError):
                self.judged(attention, **options)

    def test_references_have_softcaps_and_masks(self):
        model = model_of(GEMMA)
        model.use("eager")
        tokens = model.logits().argmax(-1).T
        eager = model.logits(tokens)
        self.assertTrue(model_figures.agrees(model_runs.References(model, tokens).judge(eager)["phases"]))


class FakeEvent:
    """Of a GPU that comes to an event at once, and whose clock ticks a microsecond at each."""
    ticks, gpu_is_fast = 0, True

    def __init__(self, enable_timing):
        pass

    def record(self):
        FakeEvent.ticks += 1
        self._tick = FakeEvent.ticks

    def query(self):
        return FakeEvent.gpu_is_fast

    def elapsed_time(self, other):
        return (other._tick - self._tick) / 1000.0


def fake_clock():
    return unittest.mock.patch.multiple(torch.cuda, Event=FakeEvent, _sleep=lambda _: None, synchronize=lambda: None)


class Times(unittest.TestCase):
    def rounds(self, gpu_is_fast):
        model = model_of(LLAMA)
        contenders = [model_runs.Contender("default", "sdpa"), model_runs.Contender("other", "eager")]
        with fake_clock(), unittest.mock.patch.object(FakeEvent, "gpu_is_fast", gpu_is_fast):
            taken = model_runs.time_in_turns(model, contenders, 3)
        self.assertFalse(any(layer._forward_hooks or layer._forward_pre_hooks for layer in model.layers))
        self.assertNotIn("get_interface", vars(model_runs.ALL_ATTENTION_FUNCTIONS))
        return taken

    def test_each_step_has_the_time_of_all_its_calls(self):
        for name, figures in self.rounds(gpu_is_fast=False).items():
            self.assertEqual(len(figures), 3, name)
            for of in figures:
                # Two layers, with a tick between the events of each.
                self.assertEqual([round(us, 6) for us in of["attention_us"]], [2.0] * NEW_TOKENS)
                self.assertEqual((of["tokens"], of["late_steps"]), (2 * NEW_TOKENS, 0))

    def test_steps_for_which_the_host_is_too_slow_are_counted(self):
        for figures in self.rounds(gpu_is_fast=True).values():
            self.assertEqual([of["late_steps"] for of in figures], [NEW_TOKENS] * 3)


class Calls(unittest.TestCase):
    def test_calls_of_the_operators_are_told_from_others(self):
        library = torch.library.Library("tuned_calls_test", "DEF")
        library.define("forward(Tensor q, Tensor k, Tensor v, bool causal) -> Tensor")
        library.impl("forward", lambda q, k, v, causal: torch.nn.functional.scaled_dot_product_attention(
            q, k, v, is_causal=causal, enable_gqa=True), "CPU")
        Explanation = collections.namedtuple("Explanation", "step config reason untuned", defaults=("", "", ""))
        package = types.SimpleNamespace(
            __name__="tuned_calls_test", explain=lambda *_, **__: Explanation("refused", reason="one query"),
            _explain=types.SimpleNamespace(explanation_of=lambda call: Explanation("exact", f"causal {call[3]}")))

        def attention(module, query, key, value, attention_mask, **_):
            if query.size(2) == 1:
                return transformers.AttentionInterface()["sdpa"](module, query, key, value, attention_mask)
            return torch.ops.tuned_calls_test.forward(query, key, value, True).transpose(1, 2), None

        model_runs.register_attention("counted", attention)
        model = model_of(LLAMA)
        model.use("counted")
        self.assertEqual(model_runs.count_calls(model, package),
                         {("prefill", (True, "causal True (exact)")): 2,
                          ("decode", (False, "one query")): 2 * (NEW_TOKENS - 1)})


if __name__ == "__main__":
    script_modules.run_tests()

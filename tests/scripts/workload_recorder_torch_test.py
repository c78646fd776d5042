"""Tests the module that `fatune workload recorder` prints with PyTorch itself, on a CPU: that PyTorch's attention stays what
it is, and which problems a model of transformers calls. Skipped (77) without PyTorch; the model's without transformers.

usage: workload_recorder_torch_test.py FATUNE
"""
import importlib.util
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest
import warnings

try:
    import torch
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

FATUNE = sys.argv[1]
WORK = tempfile.TemporaryDirectory()
SOURCE = subprocess.run([FATUNE, "workload", "recorder"], check=True, capture_output=True, text=True).stdout
(pathlib.Path(WORK.name) / "fatune_record.py").write_text(SOURCE, encoding="utf-8")
sys.path.insert(0, WORK.name)
import fatune_record  # noqa: E402

functional = torch.nn.functional


def tensors(*extents, dtype=torch.bfloat16):
    torch.manual_seed(1)
    return [torch.randn(extent, dtype=dtype) for extent in extents]


class Recorded(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(dir=WORK.name)
        self.addCleanup(folder.cleanup)
        self.file = pathlib.Path(folder.name) / "calls.jsonl"

    def record(self):
        return fatune_record.record(self.file)

    def shown(self):
        """The lines of the file as fatune shows them, without empty members."""
        text = subprocess.run([FATUNE, "workload", "show", self.file, "--format", "jsonl"], check=True,
                              capture_output=True, text=True).stdout
        return [{name: value for name, value in json.loads(line).items() if value is not None}
                for line in text.splitlines()]


class PyTorch(Recorded):
    def test_results_and_errors_are_its_own(self):
        q, k, v = tensors((2, 8, 5, 16), (2, 2, 7, 16), (2, 2, 7, 8))
        expected = functional.scaled_dot_product_attention(q, k, v, enable_gqa=True, scale=0.3)
        with self.record():
            o = functional.scaled_dot_product_attention(q, k, v, enable_gqa=True, scale=0.3)
            with self.assertRaises(RuntimeError):
                functional.scaled_dot_product_attention(q, k, v)
        torch.testing.assert_close(o, expected, rtol=0, atol=0)
        self.assertEqual([one["calls"] for one in self.shown()], [1])

    def test_gradients(self):
        q, k, v = tensors((1, 2, 5, 16), (1, 2, 5, 16), (1, 2, 5, 16))
        q.requires_grad_()
        with self.assertWarnsRegex(UserWarning, "1 with gradients"), self.record():
            functional.scaled_dot_product_attention(q, k, v).sum().backward()
            with torch.no_grad():
                functional.scaled_dot_product_attention(q, k, v)
        self.assertIsNotNone(q.grad)
        self.assertEqual([one["calls"] for one in self.shown()], [1])

    def test_what_is_no_plain_tensor(self):
        nested = torch.nested.nested_tensor([torch.randn(2, 8), torch.randn(3, 8)], layout=torch.jagged)
        nested = nested.unflatten(-1, [2, 4]).transpose(1, 2).to(torch.bfloat16)
        with self.assertWarnsRegex(UserWarning, "1 of nested tensors, 1 of torch.float32"), self.record():
            functional.scaled_dot_product_attention(nested, nested, nested)
            functional.scaled_dot_product_attention(*tensors(*[(1, 2, 5, 16)] * 3, dtype=torch.float32))

    def test_autocast(self):
        with self.record(), torch.autocast("cpu", torch.bfloat16):
            functional.scaled_dot_product_attention(*tensors(*[(1, 2, 5, 16)] * 3, dtype=torch.float32))
        self.assertEqual(self.shown()[0]["dtype"], "BF16")

    def test_modules(self):
        layer = torch.nn.MultiheadAttention(32, 4, batch_first=True, dtype=torch.bfloat16)
        x, = tensors((2, 5, 32))
        with self.record(), torch.no_grad():
            layer(x, x, x, need_weights=False)
        self.assertEqual((self.shown()[0]["heads"], self.shown()[0]["seq_len"]), (4, 5))

    def test_compiled_code_is_not_recorded_and_says_so(self):
        def attend(q, k, v):
            return torch.nn.functional.scaled_dot_product_attention(q, k, v) * 2

        operands = tensors(*[(1, 2, 5, 16)] * 3)
        expected = attend(*operands)
        torch.compiler.reset()
        compiled = torch.compile(attend, backend="eager", fullgraph=True)
        with self.assertWarnsRegex(UserWarning, "TORCH_COMPILE_DISABLE"), self.record():
            torch.testing.assert_close(compiled(*operands), expected)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            torch.testing.assert_close(compiled(*operands), expected)
        self.assertFalse(self.file.exists())


@unittest.skipIf(importlib.util.find_spec("transformers") is None, "transformers is not installed")
class Transformers(Recorded):
    """Tiny models with random weights."""

    def generate(self, config, prompt, tokens):
        import transformers

        torch.manual_seed(1)
        model = transformers.AutoModelForCausalLM.from_config(config, attn_implementation="sdpa",
                                                              dtype=torch.bfloat16).eval()
        ids = torch.arange(1, 2 * prompt + 1).reshape(2, prompt)
        with self.record(), torch.no_grad():
            model.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=tokens, min_new_tokens=tokens,
                           do_sample=False, pad_token_id=0)

    def llama(self):
        from transformers import LlamaConfig

        return LlamaConfig(vocab_size=500, hidden_size=256, intermediate_size=64, num_hidden_layers=3,
                           num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=500)

    def line(self, seq_len, calls, **members):
        return {"batch": 2, "seq_len": seq_len, "heads": 4, "d_head": 64, "dtype": "BF16", "kv_heads": 2, **members,
                "calls": calls}

    def test_a_prompt_and_its_decoding_steps(self):
        self.generate(self.llama(), prompt=7, tokens=5)
        self.assertEqual(sorted(self.shown(), key=lambda one: one.get("seq_len_kv", 0)),
                         [self.line(7, 3, causal=True),
                          *(self.line(1, 3, causal=False, seq_len_kv=7 + i) for i in range(1, 5))])

    def test_many_steps_are_few_problems(self):
        self.generate(self.llama(), prompt=100, tokens=60)
        self.assertEqual(sorted(self.shown(), key=lambda one: one.get("seq_len_kv", 0)),
                         [self.line(100, 3, causal=True), self.line(1, 3 * 11, causal=False, seq_len_kv=96),
                          self.line(1, 3 * 48, causal=False, seq_len_kv=128)])

    def test_a_sweep_plans_them(self):
        self.generate(self.llama(), prompt=7, tokens=3)
        results = self.file.with_name("results")
        subprocess.run([FATUNE, "sweep", "--workload", self.file, "--device", "none", "--no-emulate", "--max-configs", "2",
                        "--no-db", "--out", results], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        report = json.loads((results / "results.json").read_text(encoding="utf-8"))
        self.assertEqual([one["calls"] for one in report["problems"]], [3.0] * 3)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

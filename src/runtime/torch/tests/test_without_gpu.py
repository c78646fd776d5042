"""Tests the package without a GPU: fallbacks are correct and warn, and torch.compile sees no graph break."""
import dataclasses
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
import warnings

import decoding
import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.nn.functional import scaled_dot_product_attention as pytorch_attention
from torch.utils._python_dispatch import TorchDispatchMode

import fatune_attention
from fatune_attention import (_fallback, disable, enable, explain, flash_attn_func, flash_attn_varlen_func, flash_attn_with_kvcache,
                              scaled_dot_product_attention)

OPERATORS = torch.ops.fatune_attention
CPU = "fatune_attention: the tensors are not on a CUDA device; PyTorch's own attention is used"


def tensors(heads=(4, 4), rows=(5, 5), d=(16, 16), heads_inside=False, dtype=torch.float32, batch=2):
    """q, k and v, (batch, heads, rows, d). With `heads_inside`, rows come before heads in memory."""
    torch.manual_seed(1)
    extents = [(heads[0], rows[0], d[0]), (heads[1], rows[1], d[0]), (heads[1], rows[1], d[1])]
    if heads_inside:
        return [torch.randn(batch, r, h, c, dtype=dtype).transpose(1, 2) for h, r, c in extents]
    return [torch.randn(batch, h, r, c, dtype=dtype) for h, r, c in extents]


def reference(q, k, v, left=None, right=None, scale=None, bias=0.0):
    """O and the log-sum-exps in double precision."""
    group = q.size(1) // k.size(1)
    q, k, v = q.double(), k.double().repeat_interleave(group, 1), v.double().repeat_interleave(group, 1)
    scores = q @ k.mT * (q.size(3) ** -0.5 if scale is None else scale) + bias
    for i in range(q.size(2)):
        for j in range(k.size(2)):
            distance = j - (i + k.size(2) - q.size(2))
            if (left is not None and -distance > left) or (right is not None and distance > right):
                scores[:, :, i, j] = float("-inf")
    return scores.softmax(-1).nan_to_num(0.0) @ v, scores.logsumexp(-1)


def check_masks(test, rows):
    """Calls test.check(rows, what the reference is told, **what the function is told) with each kind of mask."""
    test.check(rows, {})
    test.check(rows, {"scale": 0.3}, softmax_scale=0.3)
    test.check(rows, {"right": 0}, causal=True)
    test.check(rows, {"left": 1, "right": 0}, causal=True, window_size=(1, 4))
    test.check(rows, {"left": 2, "right": 2}, window_size=(2, 2))
    test.check(rows, {"left": 3, "right": 1}, window_size=(3, 1))


class TestCase(unittest.TestCase):
    def setUp(self):
        _fallback._reasons.clear()
        warnings.simplefilter("ignore")
        self.addCleanup(warnings.resetwarnings)

    def assert_close(self, actual, expected):
        torch.testing.assert_close(actual, expected.to(actual.dtype))


class Enabled(TestCase):
    """PyTorch's function is looked up in its module by code that knows nothing of the package."""
    def names(self):
        return torch.nn.functional.scaled_dot_product_attention

    def test_replaces_the_function_and_gives_it_back(self):
        with enable():
            self.assertIs(self.names(), scaled_dot_product_attention)
            q, k, v = tensors()
            self.assert_close(self.names()(q, k, v), pytorch_attention(q, k, v))
        self.assertIs(self.names(), pytorch_attention)

    def test_is_undone_after_an_error_and_as_often_as_it_was_done(self):
        with self.assertRaises(ZeroDivisionError), enable():
            raise ZeroDivisionError
        self.assertIs(self.names(), pytorch_attention)
        enable()
        enable()
        disable()
        self.assertIs(self.names(), scaled_dot_product_attention)
        disable()
        disable()
        self.assertIs(self.names(), pytorch_attention)

    def test_serves_modules_of_pytorch(self):
        torch.manual_seed(1)
        layer = torch.nn.MultiheadAttention(32, 4, batch_first=True)
        x = torch.randn(2, 5, 32)
        expected = layer(x, x, x, need_weights=False)[0]
        with enable(), warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            self.assert_close(layer(x, x, x, need_weights=False)[0], expected)
        self.assertTrue(any("fatune_attention" in str(one.message) for one in caught))


@unittest.skipIf(importlib.util.find_spec("transformers") is None, "transformers is not installed")
class Transformers(TestCase):
    """Tiny models with random weights, whose attention is the package's."""
    def outputs(self, config, implementation):
        import transformers

        torch.manual_seed(1)
        model = transformers.AutoModelForCausalLM.from_config(config, attn_implementation=implementation).eval()
        ids = torch.arange(1, 2 * 7 + 1).reshape(2, 7)
        padded = torch.tensor([[0, 0, 1, 1, 1, 1, 1], [1] * 7])
        with torch.no_grad():
            return (model(ids).logits, model(ids, attention_mask=padded).logits[padded == 1],
                    *(self.logits_of_steps(model, ids, cache) for cache in ("dynamic", "static")))

    def logits_of_steps(self, model, ids, cache):
        generated = model.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=4, do_sample=False,
                                   pad_token_id=0, eos_token_id=None, cache_implementation=cache, disable_compile=True,
                                   output_logits=True, return_dict_in_generate=True)
        return torch.stack(generated.logits)

    def check(self, config, other):
        fatune_attention.register_with_transformers()
        for ours, theirs in zip(self.outputs(config, "fatune"), self.outputs(config, other)):
            torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-5)

    def test_grouped_queries(self):
        from transformers import LlamaConfig

        self.check(LlamaConfig(vocab_size=64, hidden_size=64, intermediate_size=64, num_hidden_layers=2,
                               num_attention_heads=4, num_key_value_heads=2), "sdpa")

    def test_softcap_and_windows(self):
        from transformers import Gemma2Config

        self.check(Gemma2Config(vocab_size=64, hidden_size=64, intermediate_size=64, num_hidden_layers=2, head_dim=16,
                                num_attention_heads=4, num_key_value_heads=2, sliding_window=4), "eager")

    def test_sinks(self):
        from transformers import GptOssConfig

        self.check(GptOssConfig(vocab_size=64, hidden_size=64, intermediate_size=64, num_hidden_layers=2, head_dim=16,
                                num_attention_heads=4, num_key_value_heads=2, sliding_window=4, num_local_experts=2,
                                num_experts_per_tok=1), "eager")

    def test_calls_that_have_no_mask_reach_the_operators(self):
        from transformers import LlamaConfig

        reasons = []
        with unittest.mock.patch.object(fatune_attention._flash, "warn_once", reasons.append):
            fatune_attention.register_with_transformers()
            self.outputs(LlamaConfig(vocab_size=64, hidden_size=64, intermediate_size=64, num_hidden_layers=1,
                                     num_attention_heads=4), "fatune")
        # A prompt, a prompt and three tokens of the generation, and the prompt of a static cache. The padded batch and
        # the tokens of the static cache have masks.
        self.assertEqual(reasons, ["the tensors are not on a CUDA device"] * 6)


class Fallback(TestCase):
    def warnings_of(self, function, *arguments, **options):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            function(*arguments, **options)
        return [str(one.message) for one in caught if "fatune_attention" in str(one.message)]

    def test_warns_once_for_each_reason(self):
        q, k, v = tensors()
        self.assertEqual(self.warnings_of(scaled_dot_product_attention, q, k, v), [CPU])
        self.assertEqual(self.warnings_of(scaled_dot_product_attention, q, k, v), [])
        again = self.warnings_of(scaled_dot_product_attention, q, k, v, torch.zeros(5, 5))
        self.assertEqual(len(again), 1)
        self.assertIn("attn_mask", again[0])

    def test_warns_once_for_each_kind(self):
        for keys, count in ((5, 1), (6, 0)):
            said = self.warnings_of(_fallback.attention, *tensors(rows=(1, keys)), reason=f"keys: {keys}", kind="keys")
            self.assertEqual(len(said), count)

    def test_the_warning_names_the_callers_line(self):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            scaled_dot_product_attention(*tensors())
        self.assertEqual(caught[0].filename, __file__)

    def test_results_and_strides_are_pytorchs(self):
        mask = torch.rand(5, 7) > 0.3
        for options in ({}, {"is_causal": True}, {"scale": 0.3}, {"attn_mask": mask}, {"enable_gqa": True}):
            for heads_inside in (False, True):
                heads = (4, 2) if "enable_gqa" in options else (4, 4)
                call = tensors(heads, (5, 7), heads_inside=heads_inside)
                actual, expected = scaled_dot_product_attention(*call, **options), pytorch_attention(*call, **options)
                self.assertTrue(torch.equal(actual, expected), options)
                self.assertEqual(actual.stride(), expected.stride())

    def test_errors_are_pytorchs(self):
        q, k, v = tensors()
        other_heads, other_columns = tensors((4, 2))[1], tensors(d=(8, 8))[1]
        for call, options in (((q, other_heads, v), {}), ((q, other_columns, v), {}), ((q, k.half(), v), {}),
                              ((q, k, v, torch.zeros(3, 3)), {}), ((q, k, v), {"dropout_p": 2.0}),
                              ((q[0, 0, 0], k, v), {})):
            with self.assertRaises(Exception) as expected:
                pytorch_attention(*call, **options)
            with self.assertRaises(type(expected.exception)) as actual:
                scaled_dot_product_attention(*call, **options)
            self.assertEqual(str(actual.exception), str(expected.exception))

    def test_gradients_are_pytorchs(self):
        leaves = [[one.clone().requires_grad_() for one in tensors()] for _ in range(2)]
        scaled_dot_product_attention(*leaves[0]).sum().backward()
        pytorch_attention(*leaves[1]).sum().backward()
        for actual, expected in zip(*leaves):
            self.assertTrue(torch.equal(actual.grad, expected.grad))

    def test_an_empty_sequence(self):
        self.assertEqual(scaled_dot_product_attention(*tensors(rows=(0, 5))).shape, (2, 4, 0, 16))


class Recording(TestCase):
    """The problems that the functions are called with, as a workload file. tests of the recorder itself are fatune's."""
    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.file = pathlib.Path(folder.name) / "calls.jsonl"

    def line(self, seq_len, calls=1, **members):
        return {"dtype": "BF16", "batch": 2, "seq_len": seq_len, "heads": 4, "d_head": 16, "causal": False, **members,
                "calls": calls}

    def check(self, *expected):
        lines = [json.loads(line) for line in self.file.read_text(encoding="utf-8").splitlines()]
        self.assertEqual(lines, list(expected))

    def test_all_functions(self):
        q, k, v = tensors(heads=(4, 2), dtype=torch.bfloat16)
        rows_first = [one.transpose(1, 2) for one in (q, k, v)]
        packed = [one.flatten(0, 1) for one in rows_first]
        starts = starts_of([5, 5])
        lengths = torch.tensor([3, 5], dtype=torch.int32)
        expected = flash_attn_func(*rows_first, causal=True)
        with fatune_attention.record(self.file):
            scaled_dot_product_attention(q, k, v, enable_gqa=True)
            self.assert_close(flash_attn_func(*rows_first, causal=True), expected)
            flash_attn_varlen_func(*packed, starts, starts, 5, 5, causal=True)
            flash_attn_with_kvcache(rows_first[0][:, :1], *rows_first[1:], cache_seqlens=lengths)
        flash_attn_func(*rows_first)
        self.check(self.line(5, kv_heads=2), self.line(5, causal=True, kv_heads=2),
                   self.line(5, causal=True, kv_heads=2, seq_lens="5,5"),
                   self.line(1, seq_len_kv=5, kv_heads=2, seq_lens_kv="5,3"))

    def test_scales_of_keys_and_values(self):
        q, k, v = (one.transpose(1, 2) for one in tensors(heads=(4, 2), dtype=torch.bfloat16))
        k, v = k.to(torch.float8_e5m2), v.to(torch.float8_e5m2)
        shapes = {"tensor": (1,), "head": (2,), "token": (2, 5, 2)}
        with fatune_attention.record(self.file):
            for shape in shapes.values():
                flash_attn_func(q, k, v, k_descale=torch.ones(shape), v_descale=torch.ones(shape))
            flash_attn_func(q, k, v, k_descale=torch.ones(1).expand(2, 2), v_descale=torch.ones(1).expand(2, 2))
        self.check(self.line(5, 2, kv_heads=2, kv_dtype="E5M2"),
                   *(self.line(5, kv_heads=2, kv_dtype="E5M2", kv_scales=one) for one in ("head", "token")))

    def test_only_the_packages_functions_count(self):
        operands = tensors(dtype=torch.bfloat16)
        with fatune_attention.record(self.file):
            torch.nn.functional.scaled_dot_product_attention(*operands)
            with enable():
                torch.nn.functional.scaled_dot_product_attention(*operands)
        self.check(self.line(5))

    def test_is_undone_after_an_error(self):
        operands = tensors(dtype=torch.bfloat16)
        with self.assertRaises(ZeroDivisionError), fatune_attention.record(self.file):
            scaled_dot_product_attention(*operands)
            raise ZeroDivisionError
        scaled_dot_product_attention(*operands)
        self.check(self.line(5))

    def test_the_environment_records_a_whole_process(self):
        program = ("import torch, fatune_attention\n"
                   "q = torch.ones(2, 4, 5, 16, dtype=torch.bfloat16)\n"
                   "for _ in range(3): fatune_attention.scaled_dot_product_attention(q, q, q)\n")
        subprocess.run([sys.executable, "-W", "ignore", "-c", program], check=True,
                       env={**os.environ, "FATUNE_ATTENTION_RECORD": str(self.file)})
        self.file, = self.file.parent.glob("calls.jsonl.*")
        self.check(self.line(5, calls=3))

    def test_compiled_code_is_not_recorded_and_says_so(self):
        operands = tensors(dtype=torch.bfloat16)
        torch.compiler.reset()
        with self.assertWarnsRegex(UserWarning, "TORCH_COMPILE_DISABLE"), fatune_attention.record(self.file):
            torch.compile(scaled_dot_product_attention, backend="eager", fullgraph=True)(*operands)
        self.assertFalse(self.file.exists())

    @unittest.skipIf(importlib.util.find_spec("transformers") is None, "transformers is not installed")
    def test_a_models_prompt_and_decoding_steps(self):
        import transformers

        fatune_attention.register_with_transformers()
        config = transformers.LlamaConfig(vocab_size=500, hidden_size=64, intermediate_size=64, num_hidden_layers=3,
                                          num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=50)
        model = transformers.AutoModelForCausalLM.from_config(config, attn_implementation="fatune", dtype=torch.bfloat16)
        ids = torch.arange(1, 2 * 7 + 1).reshape(2, 7)
        with fatune_attention.record(self.file), torch.no_grad():
            model.eval().generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=4, min_new_tokens=4,
                                  do_sample=False, pad_token_id=0)
        self.check(self.line(7, 3, causal=True, kv_heads=2),
                   *(self.line(1, 3, seq_len_kv=7 + i, kv_heads=2) for i in range(1, 4)))


class FlashAttn(TestCase):
    def check(self, rows, expected_options, bias=0.0, **options):
        q, k, v = tensors((4, 2), rows, heads_inside=True)
        o = flash_attn_func(*(one.transpose(1, 2) for one in (q, k, v)), **options)
        self.assertTrue(o.is_contiguous())
        self.assert_close(o.transpose(1, 2), reference(q, k, v, bias=bias, **expected_options)[0])

    def test_masks(self):
        for rows in ((5, 5), (3, 7), (7, 3)):
            check_masks(self, rows)
            self.check(rows, {"right": 1}, window_size=(-1, 1))

    def test_alibi(self):
        slopes = torch.tensor([0.5, 0.25, 0.125, 0.0625])
        distance = (torch.arange(3)[:, None] + 4 - torch.arange(7)[None, :]).abs()
        bias = -slopes[:, None, None] * distance
        self.check((3, 7), {"right": 0}, bias, causal=True, alibi_slopes=slopes)

    def test_what_nothing_computes_is_refused(self):
        q, k, v = (one.transpose(1, 2) for one in tensors())
        for options in ({"softcap": 30.0}, {"return_attn_probs": True}):
            with self.assertRaises(NotImplementedError):
                flash_attn_func(q, k, v, **options)

    def test_the_kernels_masks_are_the_same_masks(self):
        for causal in (False, True):
            for window_size in ((-1, -1), (0, 0), (2, 2), (3, 0), (-1, 0), (3, 1)):
                self.check_kernel_mask(causal, window_size)

    def check_kernel_mask(self, causal, window_size):
        mask = fatune_attention._flash.kernel_mask(causal, window_size)
        if mask is None:
            self.assertEqual((causal, window_size), (False, (3, 1)))
            return
        left, right = (None if one < 0 else one for one in window_size)
        expected = _fallback.visible_keys(5, 7, left, 0 if causal else right, "cpu")
        actual = _fallback.visible_keys(5, 7, *_fallback._range(*mask), "cpu")
        self.assertTrue(torch.equal(actual, expected), (causal, window_size))


LENGTHS = [6, 0, 9, 1]


def cached(rows=3, lengths=LENGTHS, keys=9):
    """q, the caches and the lengths for flash_attn_with_kvcache, with NaN behind each sequence's last key."""
    q, k, v = (one.transpose(1, 2) for one in tensors((4, 2), (rows, keys), heads_inside=True, batch=len(lengths)))
    for sequence, length in enumerate(lengths):
        k[sequence, length:] = v[sequence, length:] = float("nan")
    return q, k, v, torch.tensor(lengths, dtype=torch.int32)


def each_alone(q, k, v, lengths, **options):
    """O (batch, rows, heads, d) and the log-sum-exps of reference(), one sequence after the other."""
    results = [reference(*(one[i:i + 1, :end].transpose(1, 2) for one, end in ((q, None), (k, length), (v, length))),
                         **options) for i, length in enumerate(lengths.tolist())]
    return torch.cat([o for o, _ in results]).transpose(1, 2), torch.cat([lse for _, lse in results])


def paged(*caches, page_size=2):
    """A table of pages, and caches (batch, keys, heads, d) in pages in another order. Entries behind the last key name no
    page."""
    batch, keys = caches[0].shape[:2]
    width = -(-keys // page_size)
    order = torch.randperm(batch * width, generator=torch.Generator().manual_seed(2))
    table = order.argsort().reshape(batch, width).to(torch.int32)

    def pages_of(cache):
        padded = torch.nn.functional.pad(cache, (0, 0, 0, 0, 0, width * page_size - keys), value=float("nan"))
        return padded.reshape(batch * width, page_size, *cache.shape[2:])[order]

    ends = torch.tensor([-(-int(torch.isfinite(one[:, 0, 0]).sum()) // page_size) for one in caches[0]])
    table[torch.arange(width) >= ends[:, None]] = 1 << 30
    return table, *map(pages_of, caches)


class KvCache(TestCase):
    def check(self, rows, expected_options, **options):
        call = cached(rows)
        o = flash_attn_with_kvcache(*call[:3], cache_seqlens=call[3], **options)
        self.assertTrue(o.is_contiguous())
        self.assert_close(o, each_alone(*call, **expected_options)[0])

    def test_masks(self):
        for rows in (1, 3):
            check_masks(self, rows)

    def test_one_length_for_all(self):
        for length in (0, 4, None):
            q, k, v, lengths = cached(lengths=[9 if length is None else length] * 3)
            for causal in (False, True):
                o = flash_attn_with_kvcache(q, k, v, cache_seqlens=length, causal=causal)
                self.assert_close(o, each_alone(q, k, v, lengths, right=0 if causal else None)[0])

    def test_pages(self):
        q, k, v, lengths = cached()
        table, k_pages, v_pages = paged(k, v)
        for causal in (False, True):
            expected = each_alone(q, k, v, lengths, right=0 if causal else None)[0]
            o = flash_attn_with_kvcache(q, k_pages, v_pages, cache_seqlens=lengths, block_table=table, causal=causal)
            self.assert_close(o, expected)
        o = flash_attn_with_kvcache(q, k_pages, v_pages, cache_seqlens=2, block_table=table[[0, 0, 2, 2]])
        self.assertFalse(o.isnan().any())

    def test_wrong_tables_are_refused(self):
        q, k, v, lengths = cached()
        table, k_pages, v_pages = paged(k, v)
        for wrong in (table.long(), table[:2], table[0]):
            with self.assertRaisesRegex(ValueError, "block_table"):
                flash_attn_with_kvcache(q, k_pages, v_pages, cache_seqlens=lengths, block_table=wrong)
        with self.assertRaisesRegex(ValueError, "room for 10 keys"):
            flash_attn_with_kvcache(q, k_pages, v_pages, cache_seqlens=11, block_table=table)

    def test_what_nothing_computes_is_refused(self):
        q, k, v, lengths = cached()
        for options in ({"k": k, "v": v}, {"rotary_cos": q, "rotary_sin": q}, {"cache_batch_idx": lengths},
                        {"cache_leftpad": lengths}, {"softcap": 30.0}, {"rotary_interleaved": False}, {"alibi_slopes": q}, {"num_splits": 2}):
            with self.assertRaisesRegex(NotImplementedError, next(iter(options))):
                flash_attn_with_kvcache(q, k, v, cache_seqlens=lengths, **options)
        with self.assertRaisesRegex(NotImplementedError, "return_softmax_lse"):
            flash_attn_with_kvcache(q, k, v, cache_seqlens=lengths, return_softmax_lse=True)

    def test_wrong_lengths_are_refused(self):
        q, k, v, lengths = cached()
        for wrong in (lengths.long(), lengths[:2], lengths[:, None], 10, -1):
            with self.assertRaisesRegex(ValueError, "cache_seqlens"):
                flash_attn_with_kvcache(q, k, v, cache_seqlens=wrong)


QUERIES = [2, 1, 0, 3]
KEYS = [6, 1, 4, 0]


def starts_of(lengths):
    return torch.tensor([0, *lengths], dtype=torch.int32).cumsum(0, dtype=torch.int32)


def packed_call(queries=QUERIES, keys=KEYS):
    """The arguments of flash_attn_varlen_func."""
    q, k, v = (one[0].transpose(0, 1) for one in tensors((4, 2), (sum(queries), sum(keys)), heads_inside=True, batch=1))
    return q, k, v, starts_of(queries), starts_of(keys), max(queries), max(keys)


def each_packed_alone(q, k, v, starts_q, starts_k, *_, **options):
    """O and the log-sum-exps of reference(), packed, of one sequence after the other."""
    results = []
    for first, end, first_k, end_k in zip(starts_q, starts_q[1:], starts_k, starts_k[1:]):
        call = [one[a:b].transpose(0, 1)[None] for one, a, b in ((q, first, end), (k, first_k, end_k), (v, first_k, end_k))]
        results.append(reference(*call, **options))
    return (torch.cat([o[0] for o, _ in results], 1).transpose(0, 1), torch.cat([lse[0] for _, lse in results], 1))


class Varlen(TestCase):
    def check(self, call, expected_options, **options):
        o = flash_attn_varlen_func(*call, **options)
        self.assertTrue(o.is_contiguous())
        self.assert_close(o, each_packed_alone(*call, **expected_options)[0])

    def test_masks(self):
        for call in (packed_call(), packed_call([3, 5], [3, 5])):
            check_masks(self, call)

    def test_the_operator(self):
        call = packed_call()
        for causal, window in MASKS:
            left = window - 1 if window else None
            expected, expected_lse = each_packed_alone(*call, left=left, right=0 if causal else left)
            operands = [one.transpose(0, 1)[None] for one in call[:3]]
            options = dict(zip(("cu_seqlens_q", "cu_seqlens_kv", "max_seqlen_q", "max_seqlen_kv"), call[3:]))
            o, lse = OPERATORS.forward_lse(*operands, causal, window, **options)
            self.assert_close(o[0].transpose(0, 1), expected)
            self.assert_close(lse[0], expected_lse)
            self.assertTrue(torch.equal(OPERATORS.forward(*operands, causal, window, **options), o))
        for operator in (OPERATORS.forward.default, OPERATORS.forward_lse.default):
            torch.library.opcheck(operator, operands, options)

    def test_softcap_and_sinks(self):
        q, k, v, *rest = packed_call([3, 5], [3, 5])
        operands = [one.transpose(0, 1)[None] for one in (q, k, v)]
        sinks = torch.randn(4)
        o = OPERATORS.forward(*operands, True, softcap=2.0, sinks=sinks, cu_seqlens_q=rest[0], cu_seqlens_kv=rest[1])
        alone = [OPERATORS.forward(*(one[:, :, a:b] for one in operands), True, softcap=2.0, sinks=sinks)
                 for a, b in ((0, 3), (3, 8))]
        self.assert_close(o, torch.cat(alone, 2))

    def test_pages(self):
        for queries in (QUERIES, [1, 1, 1, 1]):
            q, k, v, starts_q, starts_k, most, most_k = packed_call(queries)
            room = torch.full((4, 7, 2, 16), float("nan"))
            caches = room.clone(), room.clone()
            for i, (first, end) in enumerate(zip(starts_k, starts_k[1:])):
                for cache, rows in zip(caches, (k, v)):
                    cache[i, :end - first] = rows[first:end]
            table, k_pages, v_pages = paged(*caches)
            expected, expected_lse = each_packed_alone(q, k, v, starts_q, starts_k, right=0)
            for lengths in (dict(cu_seqlens_k=starts_k), dict(seqused_k=starts_k.diff())):
                o = flash_attn_varlen_func(q, k_pages, v_pages, starts_q, max_seqlen_q=most, max_seqlen_k=most_k,
                                           causal=True, block_table=table, **lengths)
                self.assert_close(o, expected)
            call = (q.transpose(0, 1)[None], k_pages.transpose(1, 2), v_pages.transpose(1, 2), True)
            options = dict(page_table=table, cu_seqlens_q=starts_q, cu_seqlens_kv=starts_k, max_seqlen_q=most,
                           max_seqlen_kv=most_k)
            o, lse = OPERATORS.forward_lse(*call, **options)
            self.assert_close(o[0].transpose(0, 1), expected)
            self.assert_close(lse[0], expected_lse)
            torch.library.opcheck(OPERATORS.forward.default, call, options)

    def test_wrong_pages_are_refused(self):
        q, k, v, starts_q, starts_k, *most = packed_call()
        k, v, table, lengths = k[:, None], v[:, None], torch.zeros(4, 6, dtype=torch.int32), starts_k.diff()

        def refused(kind, text, *starts, most=most, **options):
            with self.assertRaisesRegex(kind, text):
                flash_attn_varlen_func(q, k, v, starts_q, *starts, **dict(zip(("max_seqlen_q", "max_seqlen_k"), most)),
                                       **options)

        for wrong in (table.long(), table[:2], table[0]):
            refused(ValueError, "block_table must", block_table=wrong, seqused_k=lengths)
        for wrong in (lengths.long(), lengths[:2], lengths[:, None]):
            refused(ValueError, "seqused_k must", block_table=table, seqused_k=wrong)
        refused(ValueError, "either seqused_k or cu_seqlens_k", block_table=table)
        refused(ValueError, "either seqused_k or cu_seqlens_k", starts_k, block_table=table, seqused_k=lengths)
        refused(ValueError, "4 sequences, and cu_seqlens_k 3", starts_k[:4], block_table=table)
        refused(ValueError, "cu_seqlens_k must be given")
        refused(ValueError, "max_seqlen_q and max_seqlen_k", starts_k, most=())
        refused(NotImplementedError, "seqused_k without block_table", starts_k, seqused_k=lengths)
        refused((ValueError, RuntimeError), "room for 6|forward", block_table=table, seqused_k=lengths + 7)

    def test_without_any_query_is_empty(self):
        q, k, v, starts_q, starts_k, *most = packed_call()
        o = flash_attn_varlen_func(q[:0], k, v, torch.zeros_like(starts_q), starts_k, *most, causal=True)
        self.assertEqual(o.shape, (0, *q.shape[1:]))

    def test_what_nothing_computes_is_refused(self):
        for options in ({"softcap": 30.0}, {"return_attn_probs": True}, {"learnable_sink": torch.zeros(4)}):
            with self.assertRaises(NotImplementedError):
                flash_attn_varlen_func(*packed_call(), **options)

    def test_wrong_first_rows_are_refused(self):
        q, k, v, starts_q, starts_k, *most = packed_call()
        for wrong in (starts_q.long(), starts_q[:1], starts_q[:, None]):
            with self.assertRaisesRegex(ValueError, "cu_seqlens_q"):
                flash_attn_varlen_func(q, k, v, wrong, starts_k, *most)


EIGHT_BITS = (torch.float8_e4m3fn, torch.float8_e5m2)


def eight_bit_call(dtype, descale_shape, heads=(4, 2), rows=(3, 9), batch=4):
    """q, k, v (batch, rows, heads, d) and scales, k and v of 8 bits; then k and v as they are meant."""
    q, k, v = (one.transpose(1, 2) for one in tensors(heads, rows, heads_inside=True, batch=batch))
    k, v = k.to(dtype), v.to(dtype)
    scales = [torch.rand(descale_shape) + 0.5 for _ in range(2)]
    meant = [one.float() * (scale[..., None] if scale.dim() == 3 else scale.reshape(-1, 1) if scale.dim() else scale)
             for one, scale in zip((k, v), scales)]
    return q, k, v, *scales, *meant


class EightBits(TestCase):
    """K and V of 8 bits, with scales."""
    SHAPES = ((), (1,), (2,), (4, 9, 2))

    def test_all_scales(self):
        for dtype in EIGHT_BITS:
            for shape in self.SHAPES:
                q, k, v, k_descale, v_descale, *meant = eight_bit_call(dtype, shape)
                scales = dict(k_descale=k_descale, v_descale=v_descale)
                for causal in (False, True):
                    expected = flash_attn_func(q, *meant, causal=causal)
                    self.assert_close(flash_attn_func(q, k, v, causal=causal, **scales), expected)
                    self.assert_close(flash_attn_with_kvcache(q, k, v, causal=causal, **scales), expected)

    def test_expanded_scales_are_one_for_all(self):
        q, k, v, k_descale, v_descale, *meant = eight_bit_call(EIGHT_BITS[0], (1,))
        scales = {"k_descale": k_descale.expand(4, 2), "v_descale": v_descale.expand(4, 2)}  # as vLLM has them
        self.assert_close(flash_attn_with_kvcache(q, k, v, **scales), flash_attn_func(q, *meant))
        q, k, v, k_descale, v_descale, *meant = eight_bit_call(EIGHT_BITS[0], (2,))
        scales = {"k_descale": k_descale.expand(4, 2), "v_descale": v_descale.expand(4, 2)}
        self.assert_close(flash_attn_func(q, k, v, **scales), flash_attn_func(q, *meant))

    def test_lengths_and_pages(self):
        lengths = torch.tensor(LENGTHS, dtype=torch.int32)
        for shape in self.SHAPES:
            q, k, v, k_descale, v_descale, *meant = eight_bit_call(EIGHT_BITS[0], shape)
            scales = dict(k_descale=k_descale, v_descale=v_descale)
            expected = flash_attn_with_kvcache(q, *meant, cache_seqlens=lengths, causal=True)
            self.assert_close(flash_attn_with_kvcache(q, k, v, cache_seqlens=lengths, causal=True, **scales), expected)
            self.assert_close(flash_attn_with_kvcache(q, k, v, cache_seqlens=4, **scales),
                              flash_attn_with_kvcache(q, *meant, cache_seqlens=4))
            table, *pools = paged(k.float(), v.float())
            pools = [pool.to(k.dtype) for pool in pools]
            if len(shape) == 3:
                scales = {name: paged(k.float(), scale[..., None])[2][..., 0] for name, scale in scales.items()}
            o = flash_attn_with_kvcache(q, *pools, cache_seqlens=lengths, block_table=table, causal=True, **scales)
            self.assert_close(o, expected)

    def test_scales_of_pages(self):
        q, k, v, *_ = eight_bit_call(EIGHT_BITS[1], (1,))
        table, *pools = paged(k.float(), v.float())
        scales = [torch.rand(pools[0].size(0), 2) + 0.5 for _ in range(2)]
        meant = [pool * scale[:, None, :, None] for pool, scale in zip(pools, scales)]
        pools = [pool.to(k.dtype) for pool in pools]
        lengths = torch.tensor(LENGTHS, dtype=torch.int32)
        options = dict(cache_seqlens=lengths, block_table=table)
        self.assert_close(flash_attn_with_kvcache(q, *pools, k_descale=scales[0], v_descale=scales[1], **options),
                          flash_attn_with_kvcache(q, *meant, **options))
        call = (q.transpose(1, 2), *(pool.transpose(1, 2) for pool in pools))
        options = dict(seq_lens_kv=lengths, page_table=table, k_descale=scales[0], v_descale=scales[1])
        o, lse = OPERATORS.forward_lse(*call, **options)
        meant = (call[0], *(pool.transpose(1, 2) for pool in meant))
        expected, expected_lse = OPERATORS.forward_lse(*meant, seq_lens_kv=lengths, page_table=table)
        self.assert_close(o, expected)
        self.assert_close(lse, expected_lse)
        for operator in (OPERATORS.forward.default, OPERATORS.forward_lse.default):  # float8 has no allclose
            torch.library.opcheck(operator, call, options, test_utils="test_faketensor")

    def test_packed(self):
        q, k, v, *rest = packed_call()
        k, v = k.to(EIGHT_BITS[0]), v.to(EIGHT_BITS[0])
        for shape in ((1,), (2,), k.shape[:2]):
            scales = [torch.rand(shape) + 0.5 for _ in range(2)]
            meant = [one.float() * scale[..., None] for one, scale in zip((k, v), scales)]
            self.assert_close(flash_attn_varlen_func(q, k, v, *rest, k_descale=scales[0], v_descale=scales[1]),
                              flash_attn_varlen_func(q, *meant, *rest))

    def test_wrong_scales_are_refused(self):
        q, k, v, k_descale, v_descale, *meant = eight_bit_call(EIGHT_BITS[0], (2,))
        both = dict(k_descale=k_descale, v_descale=v_descale)
        for operands, options, text in (((k, v), {}, "need values of that type, k_descale and v_descale"),
                                        ((k, v), {"k_descale": k_descale}, "need values of that type"),
                                        ((k, v.to(EIGHT_BITS[1])), both, "need values of that type"),
                                        (meant, both, "of float8, not of torch.float32"),
                                        ((k, v), {**both, "v_descale": v_descale[:1]}, "the same shape"),
                                        ((k, v), {**both, "k_descale": torch.ones(4, 2)}, r"k_descale must be \(1\)"),
                                        ((k, v), {**both, "k_descale": torch.ones(3)}, "k_descale must be")):
            for function in (flash_attn_func, flash_attn_with_kvcache):
                with self.assertRaisesRegex(ValueError, text):
                    function(q, *operands, **options)

    def test_compiled_code_has_no_break(self):
        q, k, v, k_descale, v_descale, *meant = eight_bit_call(EIGHT_BITS[0], (4, 9, 2))
        torch.compiler.reset()
        compiled = torch.compile(flash_attn_func, backend="eager", fullgraph=True)
        self.assert_close(compiled(q, k, v, k_descale=k_descale, v_descale=v_descale), flash_attn_func(q, *meant))


CALLS = [dict(heads=heads, rows=rows, heads_inside=inside) for heads in ((4, 4), (4, 2), (3, 1))
         for rows in ((5, 5), (1, 6), (7, 3)) for inside in (False, True)]
MASKS = [(False, 0), (True, 0), (True, 2), (False, 2)]


class Operators(TestCase):
    """On the CPU, the operators compute with PyTorch's own attention what the kernels compute on a GPU."""

    def test_results(self):
        for call in CALLS:
            q, k, v = tensors(**call)
            for causal, window in MASKS:
                left = window - 1 if window else None
                expected, expected_lse = reference(q, k, v, left, 0 if causal else left)
                self.assert_close(OPERATORS.forward(q, k, v, causal, window), expected)
                o, lse = OPERATORS.forward_lse(q, k, v, causal, window)
                self.assert_close(o, expected)
                self.assert_close(lse, expected_lse)

    def test_autocast_does_not_change_the_results_type(self):
        q, k, v = tensors()
        with torch.autocast("cpu", torch.bfloat16):
            self.assertEqual(OPERATORS.forward(q, k, v).dtype, q.dtype)

    def test_the_output_has_querys_layout(self):
        for call in CALLS:
            q, k, v = tensors(**call)
            self.assertEqual(OPERATORS.forward(q, k, v).stride(), q.stride())

    def test_opcheck(self):
        for call in CALLS[:4]:
            for operator in (OPERATORS.forward.default, OPERATORS.forward_lse.default):
                torch.library.opcheck(operator, (*tensors(**call), True, 2, 0.3))

    def test_lengths_of_keys(self):
        q, k, v, lengths = cached()
        call = [one.transpose(1, 2) for one in (q, k, v)]
        for causal, window in MASKS:
            left = window - 1 if window else None
            expected, expected_lse = each_alone(q, k, v, lengths, left=left, right=0 if causal else left)
            o, lse = OPERATORS.forward_lse(*call, causal, window, seq_lens_kv=lengths)
            self.assert_close(o.transpose(1, 2), expected)
            self.assert_close(lse, expected_lse)
            self.assertTrue(torch.equal(OPERATORS.forward(*call, causal, window, seq_lens_kv=lengths), o))
        for operator in (OPERATORS.forward.default, OPERATORS.forward_lse.default):
            torch.library.opcheck(operator, (*(one.nan_to_num() for one in call), True, 0, 0.3, False, lengths))

    def test_other_columns_in_values(self):
        q, k, v = tensors(d=(16, 8), heads_inside=True)
        torch.library.opcheck(OPERATORS.forward.default, (q, k, v))
        self.assertEqual(OPERATORS.forward(q, k, v).transpose(1, 2).is_contiguous(), True)

    def test_operands_of_one_tensor(self):
        q, k, v = torch.randn(2, 5, 3, 4, 16).permute(2, 0, 3, 1, 4)
        torch.library.opcheck(OPERATORS.forward.default, (q, k, v))
        self.assertTrue(OPERATORS.forward(q, k, v).transpose(1, 2).is_contiguous())


class ChecksOnGpu(TestCase):
    """What check_on_gpu.py compares a kernel's results with, which needs no GPU itself."""

    def test_random_calls_are_right_as_pytorch_computes_them(self):
        kinds = [(torch.float32, 16)]
        for seed, problem in enumerate(decoding.random_decoding(6, 1, kinds)):
            problem = dataclasses.replace(problem, seq_len_kv=60, window=min(problem.window, 20))
            q, k, v = decoding.caches(problem, seed, "cpu")
            lengths = decoding.random_lengths(problem, seed)
            decoding.poison(lengths, k, v)
            call = [one.transpose(1, 2) for one in (q, k, v)]
            o, lse = OPERATORS.forward_lse(*call, *problem.mask(), seq_lens_kv=lengths)
            o = o.transpose(1, 2)
            self.assertIsNone(decoding.fault(problem, lengths, o, lse, q, k, v))
            table, *pools = decoding.in_pages(8, seed, k, v)
            paged = flash_attn_with_kvcache(q, *pools, cache_seqlens=lengths, block_table=table,
                                            **decoding.options(problem))
            self.assert_close(paged, o)
            o[0, 0, 0] += 1.0
            self.assertIsNotNone(decoding.fault(problem, lengths, o, lse, q, k, v))

    def test_random_packed_calls_are_right_as_pytorch_computes_them(self):
        for seed, (problem, queries, keys) in enumerate(decoding.random_packed(3, 1, [(torch.float32, 16)])):
            q, k, v = (one[0] for one in decoding.caches(problem, seed, "cpu"))
            starts = [decoding.starts_of(lengths, "cpu") for lengths in (queries, keys)]
            call = [one.transpose(0, 1)[None] for one in (q, k, v)]
            o, lse = OPERATORS.forward_lse(*call, *problem.mask(), cu_seqlens_q=starts[0], cu_seqlens_kv=starts[1])
            o, lse = o[0].transpose(0, 1), lse[0]
            self.assertIsNone(decoding.packed_fault(problem, queries, keys, o, lse, q, k, v))
            table, *pools = decoding.packed_in_pages(8, seed, keys, k, v)
            paged = flash_attn_varlen_func(q, *pools, starts[0], max_seqlen_q=max(queries), max_seqlen_k=max(keys),
                                           seqused_k=starts[1].diff(), block_table=table, **decoding.options(problem))
            self.assert_close(paged, o)
            lse[0, 0] += 1.0
            self.assertIsNotNone(decoding.packed_fault(problem, queries, keys, o, lse, q, k, v))


class Compile(TestCase):
    def check(self, function, *arguments):
        torch.compiler.reset()
        compiled = torch.compile(function, fullgraph=True, dynamic=False)
        self.assert_close(compiled(*arguments), function(*arguments))

    def test_what_falls_back(self):
        self.check(lambda q, k, v: scaled_dot_product_attention(q, k, v, is_causal=True) * 2, *tensors())

    def test_what_falls_back_in_flash_attn_func(self):
        self.check(lambda q, k, v: flash_attn_func(q, k, v, causal=True) * 2, *tensors())

    def test_what_falls_back_in_flash_attn_with_kvcache(self):
        q, k, v, lengths = cached()
        self.check(lambda *call: flash_attn_with_kvcache(*call[:3], cache_seqlens=call[3], causal=True) * 2,
                   q, k, v, lengths)

    def test_the_operator(self):
        self.check(lambda q, k, v: OPERATORS.forward(q, k, v, True) * 2, *tensors())

    def test_lengths_that_change(self):
        torch.compiler.reset()
        compiled = torch.compile(lambda *call: OPERATORS.forward(*call) * 2, fullgraph=True, dynamic=True)
        for rows in (5, 7, 9):
            call = tensors(rows=(rows, rows))
            self.assert_close(compiled(*call), OPERATORS.forward(*call) * 2)


class CalledOperators(TorchDispatchMode):
    def __init__(self):
        super().__init__()
        self.names = []
        self.arguments = []
        self.options = []

    def __torch_dispatch__(self, function, types, arguments=(), options=None):
        self.names.append(str(function))
        self.arguments.append(arguments)
        self.options.append(options or {})
        return function(*arguments, **(options or {}))


class FakeCuda(TestCase):
    """Tensors of a GPU that does not exist: nothing is computed."""

    def fakes(self, **call):
        return [one.to("cuda") for one in tensors(dtype=torch.float16, **call)]

    def check_runs_the_operator(self, function, operator, **call):
        with FakeTensorMode(), CalledOperators() as called:
            function(*self.fakes(**call))
        self.assertIn(operator, called.names)

    def test_what_the_operators_take_goes_to_them(self):
        operator = "fatune_attention.forward.default"
        self.check_runs_the_operator(scaled_dot_product_attention, operator)
        self.check_runs_the_operator(lambda *call: scaled_dot_product_attention(*call, is_causal=True), operator)
        self.check_runs_the_operator(lambda *call: scaled_dot_product_attention(*call, enable_gqa=True), operator,
                                     heads=(4, 2), rows=(1, 6))
        self.check_runs_the_operator(lambda *call: flash_attn_func(*call, causal=True), operator)
        self.check_runs_the_operator(lambda *call: flash_attn_func(*call, return_attn_probs=True)[1],
                                     "fatune_attention.forward_lse.default")

    def test_lengths_go_to_the_operators(self):
        for lengths, count in ((None, 0), (4, 0), (torch.tensor(LENGTHS, dtype=torch.int32), 1)):
            with FakeTensorMode(allow_non_fake_inputs=True), CalledOperators() as called:
                q, k, v = (one.to("cuda", torch.float16) for one in cached()[:3])
                given = lengths.to("cuda") if count else lengths
                o = flash_attn_with_kvcache(q, k, v, cache_seqlens=given)
                lse = flash_attn_with_kvcache(q, k, v, cache_seqlens=given, return_softmax_lse=True)[1]
            self.assertEqual((o.shape, lse.shape), (q.shape, (4, 4, 3)))
            for operator in ("forward", "forward_lse"):
                arguments = called.arguments[called.names.index(f"fatune_attention.{operator}.default")]
                self.assertEqual(len(arguments) == 8 and arguments[7] is given, bool(count))
                self.assertEqual(arguments[1].size(2), 4 if isinstance(lengths, int) else 9)

    def test_packed_calls_and_pages_go_to_the_operators(self):
        q, k, v, lengths = cached(1)
        in_pages = q, *paged(k, v), lengths
        with FakeTensorMode(allow_non_fake_inputs=True), CalledOperators() as called:
            q, k, v, starts_q, starts_k, *most = packed_call()
            half = [one.to("cuda", torch.float16) for one in (q, k, v)]
            starts = [starts_q.to("cuda"), starts_k.to("cuda")]
            o, lse, _ = flash_attn_varlen_func(*half, *starts, *most, return_attn_probs=True)
            self.assertEqual((o.shape, lse.shape), (q.shape, (4, 6)))
            flash_attn_varlen_func(*half, *starts, *most)
            q, table, *pages, lengths = (one.to("cuda") for one in in_pages)
            q, *pages = (one.to(torch.float16) for one in (q, *pages))
            flash_attn_with_kvcache(q, *pages, cache_seqlens=lengths, block_table=table)
            flash_attn_varlen_func(q[:, 0], *pages, starts_of([1] * 4).to("cuda"), starts_of(LENGTHS).to("cuda"), 1, 9,
                                   block_table=table)
            chunks = dict(cu_seqlens_q=starts[0], max_seqlen_q=3, max_seqlen_k=9, seqused_k=lengths, block_table=table)
            flash_attn_varlen_func(half[0], *pages, **chunks, return_attn_probs=True)
        calls = [arguments for name, arguments in zip(called.names, called.arguments)
                 if name.startswith("fatune_attention.forward")]
        self.assertEqual([len(arguments) for arguments in calls], [15, 15, 11, 11, 15])
        self.assertIs(calls[0][11], starts[0])
        self.assertIs(calls[2][10], table)
        self.assertIs(calls[4][10], table)
        self.assertEqual((calls[4][12].dtype, calls[4][12].shape, calls[4][13:]), (torch.int32, (5,), (3, 9)))

    def test_untuned_calls_may_be_allowed(self):
        for allowed in (False, True):
            fatune_attention.allow_untuned(allowed)
            with FakeTensorMode(), CalledOperators() as called:
                scaled_dot_product_attention(*self.fakes())
            arguments = called.arguments[called.names.index("fatune_attention.forward.default")]
            self.assertEqual(len(arguments) == 7 and arguments[6], allowed)  # trailing defaults are left out
        fatune_attention.allow_untuned(False)

    def candidates_of_a_call(self):
        with FakeTensorMode(), CalledOperators() as called:
            scaled_dot_product_attention(*self.fakes())
        return called.options[called.names.index("fatune_attention.forward.default")].get("candidates", 1)

    def test_as_many_kernels_are_tried_as_was_said(self):
        self.addCleanup(fatune_attention.try_kernels)
        self.assertEqual(self.candidates_of_a_call(), 12)
        for said, candidates in ((4, 4), (False, 1), (1, 1), (None, 1)):
            fatune_attention.try_kernels(said)
            self.assertEqual(self.candidates_of_a_call(), candidates)
        for wrong in (13, -1):
            with self.assertRaisesRegex(ValueError, "from 1 to 12"):
                fatune_attention.try_kernels(wrong)

    def test_nothing_is_tried_where_results_must_be_the_same_each_time(self):
        self.addCleanup(torch.use_deterministic_algorithms, torch.are_deterministic_algorithms_enabled())
        torch.use_deterministic_algorithms(True)
        self.assertEqual(self.candidates_of_a_call(), 1)

    def test_the_environment_says_how_many_kernels_are_tried(self):
        for text, said in (("3", "3"), ("1", "1"), ("nine", "a number from 1"), ("13", "a number from 1")):
            run = subprocess.run([sys.executable, "-c", "import fatune_attention as one; print(one._operators._candidates)"],
                                 env=os.environ | {"FATUNE_ATTENTION_TRIALS": text}, capture_output=True, text=True)
            self.assertIn(said, run.stdout + run.stderr)

    def test_autocast(self):
        torch.set_autocast_enabled("cuda", True)  # torch.autocast does not do it without a GPU
        self.addCleanup(torch.set_autocast_enabled, "cuda", False)
        torch.set_autocast_dtype("cuda", torch.bfloat16)
        with FakeTensorMode():
            q, k, v = self.fakes()
            self.assertEqual(scaled_dot_product_attention(q.float(), k, v.bfloat16()).dtype, torch.bfloat16)

    def test_the_output_is_as_the_query(self):
        with FakeTensorMode():
            for call in CALLS:
                if call["heads"][0] == call["heads"][1]:
                    q, k, v = self.fakes(**call)
                    o = scaled_dot_product_attention(q, k, v)
                    self.assertEqual((o.shape, o.stride(), o.dtype, o.device),
                                     (q.shape, q.stride(), q.dtype, q.device))

    def test_explain_says_why_the_operators_are_not_asked(self):
        with FakeTensorMode():
            q, k, v = self.fakes(rows=(5, 7))
            self.assertIn("is_causal", explain(q, k, v, is_causal=True).reason)
            self.assertIn("alibi", explain(q, k, v, alibi_slopes=q, like=flash_attn_func).reason)
            self.assertIn("window_size",
                          explain(q, k, v, window_size=(3, 1), cache_seqlens=2, like=flash_attn_with_kvcache).reason)
            starts = torch.tensor([0, 1, 2], dtype=torch.int32, device="cuda")
            table = torch.zeros(2, 1, dtype=torch.int32, device="cuda")
            self.assertIn("window_size", explain(q[0], k, v, starts, starts, 1, 7, window_size=(3, 1), block_table=table,
                                                 like=flash_attn_varlen_func).reason)
            self.assertIn("gradients", explain(q.requires_grad_(), k, v).reason)


if __name__ == "__main__":
    unittest.main()

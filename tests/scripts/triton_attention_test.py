"""Tests scripts/lib/triton_attention.py in Triton's CPU interpreter. Skipped (77) without PyTorch and Triton."""
import os
import sys
import unittest

os.environ["TRITON_INTERPRET"] = "1"
from script_modules import run_tests

try:
    import torch
    import attention_inputs
    import attention_reference
    import triton_attention
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

SCALE = 0.125
CONFIGS = [(32, 32, 4, 2), (64, 32, 4, 2), (32, 64, 4, 2)]


def tensor(batch, positions, heads, heads_inside):
    if heads_inside:
        return torch.randn(batch, positions, heads, 64, dtype=torch.float16)
    return torch.randn(batch, heads, positions, 64, dtype=torch.float16).transpose(1, 2)


def reference(q, k, v, causal):
    group = q.shape[2] // k.shape[2]
    k, v = (one.float().repeat_interleave(group, 2) for one in (k, v))
    scores = torch.einsum("bqhd,bkhd->bhqk", q.float(), k) * SCALE
    if causal:
        queries, keys = scores.shape[-2:]
        seen = torch.ones(queries, keys, dtype=torch.bool).tril(keys - queries)
        scores = scores.masked_fill(~seen, float("-inf"))
    return torch.einsum("bhqk,bkhd->bqhd", torch.softmax(scores, -1).nan_to_num(0), v)


class TritonAttention(unittest.TestCase):
    def check(self, lengths, heads, causal, heads_inside=True):
        torch.manual_seed(1)
        q = tensor(2, lengths[0], heads[0], heads_inside)
        k, v = (tensor(2, lengths[1], heads[1], heads_inside) for _ in range(2))
        for config in CONFIGS:
            inputs = attention_inputs.Inputs(q, k, v, causal, SCALE, [lengths[1]] * 2)
            o = triton_attention._launcher(inputs, None, config)()
            self.assertEqual(o.stride(), q.stride())
            self.assertLess((o.float() - reference(q, k, v, causal)).abs().max().item(), 2e-3, config)

    def test_whole_tiles(self):
        self.check((64, 128), (2, 2), False)

    def test_ragged_lengths(self):
        self.check((70, 100), (2, 2), False)

    def test_causal_with_grouped_heads(self):
        self.check((128, 128), (4, 2), True)

    def test_causal_with_more_keys_than_queries(self):
        self.check((70, 130), (2, 1), True)

    def test_rows_that_see_no_key(self):
        self.check((96, 40), (2, 1), True)

    def test_heads_outside_of_positions(self):
        self.check((70, 130), (2, 1), True, heads_inside=False)

    def check_eight_bits(self, lengths, heads, causal, sharing, heads_inside=True):
        torch.manual_seed(1)
        q, k, v = (tensor(2, length, count, heads_inside) for length, count in zip((lengths[0], *lengths[1:] * 2),
                                                                                   (heads[0], *heads[1:] * 2)))
        v.mul_(torch.arange(1, heads[1] + 1)[:, None])  # scales of heads differ
        (q, q_scales), (k, k_scales), (v, v_scales) = (
            attention_inputs.as_eight_bits(torch, one, torch.float8_e4m3fn, sharing) for one in (q, k, v))
        inputs = attention_inputs.Inputs(q, k, v, causal, SCALE, [lengths[1]] * 2, q_scales=q_scales, k_scales=k_scales,
                                         v_scales=v_scales)
        for config in CONFIGS:
            o = triton_attention._launcher(inputs, triton_attention._with_contiguous_positions(v), config)()
            self.assertEqual((o.dtype, o.stride()), (torch.bfloat16, q.stride()))
            errors = attention_reference.Reference(torch, inputs).errors(o)
            # The interpreter cuts P's digits off, where a GPU rounds them: that gives 0.025.
            self.assertLess(errors["rms"], 0.08)
            self.assertLess(errors["greatest"], 0.3)

    def test_eight_bits(self):
        self.check_eight_bits((64, 128), (2, 2), False, "tensor")

    def test_eight_bits_with_ragged_lengths_and_scales_of_heads(self):
        self.check_eight_bits((70, 101), (4, 2), True, "head")
        self.check_eight_bits((70, 101), (2, 1), False, "head", heads_inside=False)


if __name__ == "__main__":
    run_tests()

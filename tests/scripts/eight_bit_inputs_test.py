"""Tests tensors of 8 bits (scripts/lib/attention_inputs.py) and attention_reference.py. Skipped (77) without PyTorch."""
import sys
import types
import unittest

from script_modules import run_tests
import attention_inputs

try:
    import torch
    import attention_reference
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

PROBLEM = {"batch": 2, "seq_len": 3, "heads": 4, "kv_heads": 2, "d_head": 16, "dtype": "BF16", "causal": True,
           "seq_len_kv": 40, "kv_dtype": "E4M3"}
E4M3 = torch.float8_e4m3fn


class OnHost(types.SimpleNamespace):
    """PyTorch, whose tensors are on the host whatever is said."""

    def __getattr__(self, name):
        found = getattr(torch, name)
        if name in ("empty_strided", "tensor", "randn", "empty"):
            return lambda *arguments, device=None, **options: found(*arguments, **options)
        return found


def tensors_of(problem):
    torch.manual_seed(2)
    return attention_inputs.tensors_of(OnHost(), attention_inputs.shapes_of(problem), problem)


def reference_of(problem, tensors):
    return attention_reference.Reference(torch, attention_inputs.inputs_of(problem, tensors))


class Stored(unittest.TestCase):
    def test_what_is_stored_times_its_scale_is_the_element(self):
        values = torch.randn(3, 8, 2, 16).transpose(1, 2).contiguous().transpose(1, 2)
        values[:, :, 1] *= 100.0
        for sharing, shape in (("tensor", (1,)), ("head", (2,)), ("token", (3, 8, 2)), ("page", (3, 2))):
            for dtype, ulp in ((E4M3, 2.0**-4), (torch.float8_e5m2, 2.0**-3)):
                stored, scales = attention_inputs.as_eight_bits(torch, values.clone(), dtype, sharing)
                self.assertEqual((stored.dtype, stored.stride()), (dtype, values.stride()))
                self.assertEqual((tuple(scales.shape), scales.dtype), (shape, torch.float32))
                self.assertEqual(stored.float().abs().max().item(), torch.finfo(dtype).max)
                off = (attention_reference._scaled(stored, scales) - values).abs()
                least = torch.finfo(dtype).tiny * scales.max()
                self.assertTrue((off <= ulp * values.abs() + least).all())

    def test_tensors_of_problems(self):
        tensors = tensors_of(PROBLEM)
        self.assertEqual({name: one.dtype for name, one in tensors.items()},
                         {"q": torch.bfloat16, "k": E4M3, "v": E4M3, "o": torch.bfloat16, "k_scales": torch.float32,
                          "v_scales": torch.float32})
        paged = {**PROBLEM, "page_size": 16, "kv_scales": "page", "kv_dtype": "E5M2"}
        tensors = tensors_of(paged)
        self.assertEqual((tensors["k"].shape, tensors["k_scales"].shape, tensors["k"].dtype),
                         ((7, 16, 2, 16), (7, 2), torch.float8_e5m2))
        eight = {**PROBLEM, "dtype": "E4M3", "kv_scales": "head"}
        tensors = tensors_of(eight)
        self.assertEqual((tensors["q"].dtype, tensors["o"].dtype), (E4M3, torch.bfloat16))
        self.assertEqual([tensors[name].shape for name in ("q_scales", "k_scales", "v_scales")], [(4,), (2,), (2,)])
        inputs = attention_inputs.inputs_of(eight, tensors)
        self.assertIs(inputs.q_scales, tensors["q_scales"])
        self.assertEqual(inputs.empty_output(torch).dtype, torch.bfloat16)

    def test_scales_of_blocks_are_refused(self):
        with self.assertRaisesRegex(NotImplementedError, "scales of blocks"):
            tensors_of({**PROBLEM, "dtype": "E4M3", "kv_scales": "block"})

    def test_features(self):
        of = attention_inputs.features_of
        self.assertEqual(of({**PROBLEM, "kv_scales": "tensor"}), {"eight_bits"})
        self.assertEqual(of({**PROBLEM, "kv_scales": "head"}), {"eight_bits", "head_scales"})
        self.assertEqual(of({**PROBLEM, "kv_scales": "token"}), {"eight_bits", "key_scales"})
        self.assertEqual(of({**PROBLEM, "dtype": "E4M3", "kv_scales": "head"}), {"head_scales"})
        self.assertEqual(of({**PROBLEM, "dtype": "E4M3", "kv_scales": "block"}), {"block_scales"})
        self.assertEqual(of({**PROBLEM, "kv_dtype": "BF16", "kv_scales": "tensor"}), set())


class References(unittest.TestCase):
    def attention(self, problem, tensors):
        """Returns PyTorch's attention of the scaled tensors, by sequence."""
        inputs = attention_inputs.inputs_of(problem, tensors)
        outputs = []
        for of in attention_reference.sequences(torch, inputs):
            group = of.q.shape[1] // of.k.shape[1]
            q, k, v = (one.transpose(0, 1) for one in (of.q, of.k.repeat_interleave(group, 1),
                                                       of.v.repeat_interleave(group, 1)))
            mask = torch.ones(of.queries, k.shape[1], dtype=torch.bool).tril(k.shape[1] - of.queries)
            outputs.append(torch.nn.functional.scaled_dot_product_attention(
                q, k, v, mask if inputs.causal else None, scale=inputs.scale).transpose(0, 1))
        return torch.stack(outputs) if not inputs.is_packed else torch.cat(outputs)

    def check(self, **members):
        problem = {**PROBLEM, **members}
        tensors = tensors_of(problem)
        reference, output = reference_of(problem, tensors), self.attention(problem, tensors)
        self.assertLess(reference.check(output)["greatest"], 1e-5)
        return problem, tensors, reference, output

    def test_contiguous_keys(self):
        self.check()
        self.check(causal=False)
        self.check(seq_len=50, seq_len_kv=60, kv_scales="token")
        self.check(dtype="E4M3", kv_scales="head", seq_len=40)

    def test_lengths_pages_and_packed_batches(self):
        self.check(seq_lens_kv="40,7", kv_scales="token")
        for sharing in ("tensor", "head", "token", "page"):
            self.check(seq_lens_kv="40,7", page_size=16, kv_scales=sharing)
        self.check(seq_lens="3,1", seq_lens_kv="9,40")
        self.check(seq_lens="3,1", seq_lens_kv="9,40", kv_scales="token")

    def test_a_gathered_page_is_the_sequences_own(self):
        problem = {**PROBLEM, "page_size": 16, "kv_scales": "page"}
        tensors = tensors_of(problem)
        inputs = attention_inputs.inputs_of(problem, tensors)
        of = list(attention_reference.sequences(torch, inputs))[1]
        page, row = inputs.pages[1][2], 5
        self.assertTrue(torch.equal(of.k[2 * 16 + row], tensors["k"][page, row].float()
                                    * tensors["k_scales"][page][:, None]))

    def test_windows_caps_and_sinks(self):
        problem, tensors, reference, output = self.check()
        for member, value in (("window", 2), ("softcap", 0.5), ("sinks", torch.full((4,), 3.0))):
            inputs = attention_inputs.inputs_of(problem, tensors)
            setattr(inputs, member, value)
            changed = attention_reference.Reference(torch, inputs)
            self.assertGreater(changed.errors(output)["rms"], 0.02, member)
        inputs.window, inputs.softcap, inputs.sinks = 1, 0.0, None  # its own key alone
        own = attention_inputs.inputs_of(problem, tensors)
        v = next(attention_reference.sequences(torch, own)).v[-3:]
        changed = attention_reference.Reference(torch, inputs)
        self.assertTrue(torch.allclose(changed._outputs[:3], v.repeat_interleave(2, 1)))

    def test_mistakes_are_found(self):
        for members in ({}, {"dtype": "E4M3", "seq_len": 40}):
            problem, tensors, reference, output = self.check(**members, kv_scales="head")
            for wrong in (output * 1.15, output.roll(1, 1), output.roll(1, 2), torch.full_like(output, float("nan"))):
                with self.assertRaisesRegex(RuntimeError, "off attention in fp32"):
                    reference.check(wrong)
            self.assertLess(reference.check(output / 4, torch.full((1,), 4.0))["greatest"], 1e-5)


if __name__ == "__main__":
    run_tests()

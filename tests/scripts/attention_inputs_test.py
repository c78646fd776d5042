"""Tests scripts/lib/attention_inputs.py: what a problem asks for, and the tensors that say it."""
import types
import unittest

from script_modules import run_tests
import attention_inputs
import peer_kernels

PROBLEM = {"batch": 2, "seq_len": 1, "heads": 4, "kv_heads": 2, "d_head": 64, "dtype": "BF16", "causal": True,
           "seq_len_kv": 40}


class Tensor(types.SimpleNamespace):
    def fill_(self, _value):
        return self

    def normal_(self):
        return self

    def view(self, *shape):
        return Tensor(values=self.values, shape=shape)

    def __getitem__(self, place):
        return Tensor(part_of=self, shape=(*self.shape[:-1], place[1].stop))


TORCH = types.SimpleNamespace(
    int32="int32", bfloat16="bfloat16",
    tensor=lambda values, dtype, device: Tensor(values=values, shape=(len(values),)),
    randn=lambda count, device: Tensor(shape=(count,)),
    empty_strided=lambda shape, strides, device, dtype: Tensor(shape=tuple(shape), dtype=dtype, device=device))


def launch(kv_shape):
    shapes = {"q": (2, 1, 4, 64), "k": kv_shape, "v": kv_shape, "o": (2, 1, 4, 64), "other": (1,)}
    return {"tensors": [{"name": name, "shape": shape, "strides": (), "element_type": "bfloat16"}
                        for name, shape in shapes.items()]}


def tensors_and_inputs(problem, kv_shape=(2, 40, 2, 64)):
    tensors = attention_inputs.tensors_of(TORCH, launch(kv_shape), problem)
    return tensors, attention_inputs.inputs_of(problem, tensors)


class Inputs(unittest.TestCase):
    def test_features(self):
        of = attention_inputs.features_of
        nothing = {"window": 0, "seq_lens": "", "sinks": False, "softcap": 0.0, "d_head_v": 64}
        self.assertEqual(of({**PROBLEM, **nothing}), set())
        self.assertEqual(of({**PROBLEM, "seq_lens": "1,1", "seq_lens_kv": "40,3"}), {"packed"})
        self.assertEqual(of({**PROBLEM, "seq_lens_kv": "40,3", "page_size": 16}), {"lengths", "pages"})
        self.assertEqual(of({**PROBLEM, "window": 8, "sinks": True, "softcap": 30.0, "d_head_v": 32}),
                         {"window", "sinks", "softcap", "two_dims"})

    def test_equal_lengths_need_no_tensor(self):
        tensors, inputs = tensors_and_inputs(PROBLEM)
        self.assertEqual(set(tensors), set("qkvo"))
        self.assertEqual((inputs.keys, inputs.causal, inputs.scale), ([40, 40], False, 0.125))
        self.assertIsNone(inputs.key_lengths)

    def test_lengths_that_differ(self):
        tensors, inputs = tensors_and_inputs({**PROBLEM, "seq_lens_kv": "40,3"})
        self.assertEqual(tensors["seq_lens_kv"].values, [40, 3])
        self.assertIs(inputs.key_lengths, tensors["seq_lens_kv"])

    def test_packed_batches_say_where_sequences_begin(self):
        tensors, inputs = tensors_and_inputs({**PROBLEM, "seq_len": 3, "seq_lens": "3,1", "seq_lens_kv": "3,9"})
        self.assertEqual((tensors["cu_seqlens_q"].values, tensors["cu_seqlens_kv"].values), ([0, 3, 4], [0, 3, 12]))
        self.assertEqual((inputs.queries, inputs.keys, inputs.is_packed), ([3, 1], [3, 9], True))
        tensors, inputs = tensors_and_inputs({**PROBLEM, "seq_len": 3, "seq_lens": "3,1", "seq_lens_kv": ""})
        self.assertEqual(tensors["cu_seqlens_kv"].values, [0, 3, 4])

    def test_pages_are_drawn_from_the_pool_at_random(self):
        paged = {**PROBLEM, "page_size": 16}
        tensors, inputs = tensors_and_inputs(paged, (9, 16, 2, 64))
        drawn = tensors["page_table"].values
        self.assertEqual((tensors["page_table"].shape, len(set(drawn))), ((2, 3), 6))
        self.assertTrue(all(0 <= page < 9 for page in drawn))
        self.assertNotEqual(drawn, sorted(drawn))
        self.assertEqual(inputs.pages, [drawn[:3], drawn[3:]])
        self.assertEqual(inputs.key_lengths.values, [40, 40])

    def test_sinks_are_one_for_each_head(self):
        tensors, inputs = tensors_and_inputs({**PROBLEM, "sinks": True, "softcap": 30, "window": 5})
        self.assertEqual(inputs.sinks.shape, (4,))
        self.assertIs(tensors["sinks"], inputs.sinks)
        self.assertEqual((inputs.window, inputs.softcap), (5, 30.0))

    def test_latent_values_are_the_first_columns_of_keys(self):
        problem = {**PROBLEM, "kv_heads": 1, "d_head_v": 48, "latent": True}
        tensors = attention_inputs.tensors_of(TORCH, launch((2, 40, 1, 64)), problem)
        inputs = attention_inputs.inputs_of(problem, tensors)
        self.assertEqual((inputs.v.shape, inputs.is_latent), ((2, 40, 1, 48), True))
        self.assertIs(inputs.v, tensors["v"])  # which the winner reads
        self.assertIs(inputs.v.part_of, tensors["k"])
        self.assertEqual(attention_inputs.features_of(problem), {"latent", "two_dims"})

    def test_every_feature_has_a_reason_without_it(self):
        peer = peer_kernels.Peer("x", "1", None)
        for members, reason in (({"seq_lens": "1,1"}, "no packed batches"), ({"sinks": True}, "no sinks")):
            self.assertEqual(peer_kernels.cannot_do(peer, {**PROBLEM, **members}), reason)


if __name__ == "__main__":
    run_tests()

"""Tests what the package is to serving engines, without a GPU."""
import contextlib
import functools
import json
import pathlib
import tempfile
import unittest
import unittest.mock
import warnings

import torch
from test_without_gpu import TestCase, each_packed_alone, packed_call, paged, starts_of

import fatune_attention
from fatune_attention import Explanation, _fallback, _kvcache, _serving, _varlen

BATCHES = {"prompts": ([3, 5], [3, 5]), "chunks": ([2, 1, 3, 4], [6, 1, 3, 7]), "decoding": ([1, 1, 1, 1], [6, 1, 3, 7]),
           "speculation": ([3, 3], [6, 9]), "padded graph": ([1, 1, 0], [6, 2, 0])}


def in_pages(queries, keys, page_size=2, dtype=torch.float32):
    """A batch: the call as packed_call() has it, the table, and the pools (pages, keys of a page, kv_heads, d)."""
    call = packed_call(queries, keys)
    q, k, v, _, starts_k = (one.to(dtype) if one.is_floating_point() else one for one in call[:5])
    caches = [torch.full((len(keys), max(keys), 2, 16), float("nan"), dtype=dtype) for _ in range(2)]
    for i, (first, end) in enumerate(zip(starts_k, starts_k[1:])):
        for cache, rows in zip(caches, (k, v)):
            cache[i, :end - first] = rows[first:end]
    return (q, k, v, *call[3:]), *paged(*caches, page_size=page_size)


class ServingTestCase(TestCase):
    def setUp(self):
        super().setUp()
        _serving._refusals.clear()

    @contextlib.contextmanager
    def kernels(self):
        """Has the operators compute, on the CPU, all calls that a package could have kernels for. Yields the operands of
        each."""
        operands = []

        def forward(*call):
            operands.append(call)
            return fatune_attention._operators.forward(*call)

        with contextlib.ExitStack() as patches:
            for module in (_varlen, _kvcache):
                patches.enter_context(unittest.mock.patch.object(module, "tensors_refusal", lambda *_: None))
            patches.enter_context(unittest.mock.patch.object(_serving, "explanation_of", lambda _: Explanation("exact")))
            patches.enter_context(unittest.mock.patch.object(_serving, "forward", forward))
            yield operands

    def assert_views(self, operands, cache):
        """The operators must get the cache itself: a copy in each call would cost more than the attention."""
        for _, k, v, *_ in operands:
            for pool in (k, v):
                self.assertEqual(pool.untyped_storage().data_ptr(), cache.untyped_storage().data_ptr())


class Attention(ServingTestCase):
    """What both programs call."""
    def call(self, out=None, batch="chunks", layout=torch.Tensor.contiguous):
        (q, _, _, starts_q, starts_k, most_q, most_k), table, *pools = in_pages(*BATCHES[batch])
        k, v = map(layout, pools)
        return _serving.attention("The engine", lambda: "own", out, q=q, k=k, v=v, cu_seqlens_q=starts_q,
                                  seqused_k=starts_k.diff(), max_seqlen_q=most_q, max_seqlen_k=most_k, block_table=table,
                                  causal=True)

    def test_without_a_kernel_the_engine_computes_and_is_named(self):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            self.assertEqual([self.call(), self.call()], ["own", "own"])
        self.assertEqual([str(one.message) for one in caught],
                         ["fatune_attention: the tensors are not on a CUDA device; The engine's own attention is used"])

    def test_results_are_in_the_output(self):
        for batch in BATCHES:
            call = in_pages(*BATCHES[batch])[0]
            out = torch.full_like(call[0], float("nan"))
            with self.kernels():
                self.assertIs(self.call(out=out, batch=batch), out)
                self.assertTrue(torch.equal(self.call(batch=batch), out))
            self.assert_close(out, each_packed_alone(*call, right=0)[0])

    def test_rows_that_fill_a_graphs_batch_up_are_finite(self):
        _, table, k_pages, v_pages = in_pages([1, 1, 0], [6, 2, 0])
        with self.kernels():
            o = _serving.attention("The engine", None, None, q=torch.randn(3, 4, 16), k=k_pages, v=v_pages,
                                   cu_seqlens_q=torch.tensor([0, 1, 2, 2], dtype=torch.int32), max_seqlen_q=1,
                                   seqused_k=torch.tensor([6, 2, 0], dtype=torch.int32), max_seqlen_k=6,
                                   block_table=table, causal=True)
        self.assertTrue(o.isfinite().all())

    def computed_by_engine(self, explanation):
        """Whether the engine computes two calls that are alike, for which there is one choice."""
        with self.kernels(), unittest.mock.patch.object(_serving, "explanation_of", return_value=explanation) as explain:
            first, second = (isinstance(self.call(), str) for _ in range(2))
        self.assertEqual(first, second)
        explain.assert_called_once()
        return first

    def test_the_choice_decides_who_computes(self):
        untuned = Explanation("nearest", untuned="queries: 300; tuned: 512 to 16384")
        for explanation, expected in ((Explanation("exact"), False), (untuned, True),
                                      (Explanation("refused", reason="no kernel"), True)):
            _serving._refusals.clear()
            self.assertEqual(self.computed_by_engine(explanation), expected)
        fatune_attention.allow_untuned()
        self.addCleanup(fatune_attention.allow_untuned, False)
        self.assertFalse(self.computed_by_engine(untuned))

    def test_each_layout_has_a_choice_of_its_own(self):
        with self.kernels(), unittest.mock.patch.object(_serving, "explanation_of", return_value=Explanation("exact")) as find:
            self.call()
            self.call(layout=lambda pool: pool.transpose(1, 2).contiguous().transpose(1, 2))
        self.assertEqual(find.call_count, 2)

    def test_lengths_of_one_kind_are_warned_of_once(self):
        for queries in (300, 301):
            self.computed_by_engine(Explanation("nearest", untuned=f"queries: {queries}; tuned: 512 to 16384"))
            _serving._refusals.clear()
        self.assertEqual(_fallback._reasons, {"queries"})

    def test_choices_that_are_kept_are_bounded(self):
        with self.kernels(), unittest.mock.patch.object(_serving, "_MOST_KEPT", 2):
            for batch in BATCHES:
                self.call(batch=batch)
        self.assertLessEqual(len(_serving._refusals), 2)

    def test_calls_of_both_kinds_are_recorded(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "calls.jsonl"
            _, table, k_pages, v_pages = in_pages(*BATCHES["decoding"], dtype=torch.bfloat16)
            q, lengths = torch.zeros(4, 4, 16, dtype=torch.bfloat16), torch.tensor([6, 1, 3, 7], dtype=torch.int32)
            call = functools.partial(_serving.attention, "The engine", lambda: None, None, q=q, k=k_pages, v=v_pages,
                                     cu_seqlens_q=starts_of([1] * 4), seqused_k=lengths, max_seqlen_q=1, max_seqlen_k=7,
                                     block_table=table)
            with fatune_attention.record(file):
                call()
                with self.kernels():
                    call()
            line, = (json.loads(one) for one in file.read_text(encoding="utf-8").splitlines())
        self.assertEqual((line["calls"], line["batch"], line["page_size"]), (2, 4, 2))


if __name__ == "__main__":
    unittest.main()

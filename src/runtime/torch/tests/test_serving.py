"""Tests what the package is to vLLM and SGLang, without a GPU. Tests of a program that is not installed are skipped."""
import contextlib
import dataclasses
import functools
import importlib
import importlib.util
import inspect
import json
import os
import pathlib
import tempfile
import types
import unittest
import unittest.mock
import warnings

import torch
from test_without_gpu import TestCase, each_packed_alone, packed_call, paged, starts_of

import fatune_attention
from fatune_attention import Explanation, _enable, _fallback, _kvcache, _serving, _varlen

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


@unittest.skipIf(importlib.util.find_spec("vllm") is None, "vllm is not installed")
class Vllm(ServingTestCase):
    """vLLM's classes with tensors on a CPU: its FlashAttention itself needs a GPU."""
    def setUp(self):
        super().setUp()
        self.backend = importlib.import_module("fatune_attention._vllm")
        self.flash_attn = importlib.import_module("vllm.v1.attention.backends.flash_attn")

    def impl(self, sliding_window=None, **options):
        """Attention of 4 heads, of which 2 share a head of keys."""
        return self.backend.Impl(4, 16, 0.25, 2, options.pop("alibi_slopes", None), sliding_window, "auto", **options)

    def cache(self, k_pages, v_pages, heads_inside):
        """The pools as vLLM has them: (pages, heads, keys of a page, 2 d), with one of two orders in memory."""
        rows = torch.cat((k_pages, v_pages), -1)
        return rows.transpose(1, 2) if heads_inside else rows.transpose(1, 2).contiguous()

    def metadata(self, call, table, **options):
        kind = self.flash_attn.FlashAttentionMetadata
        unused = {field.name: None for field in dataclasses.fields(kind) if field.default is dataclasses.MISSING}
        q, _, _, starts_q, starts_k, most_q, most_k = call
        return kind(**unused | dict(num_actual_tokens=q.size(0), max_query_len=most_q, query_start_loc=starts_q,
                                    max_seq_len=most_k, seq_lens=starts_k.diff(), block_table=table) | options)

    def test_the_plug_in_registers_the_backend(self):
        from vllm.config.attention import AttentionConfig
        from vllm.plugins import load_plugins_by_group
        from vllm.v1.attention.backends.registry import AttentionBackendEnum

        load_plugins_by_group("vllm.general_plugins")["fatune_attention"]()
        chosen = AttentionConfig(backend="custom").backend
        self.assertIs(chosen, AttentionBackendEnum.CUSTOM)
        self.assertIs(chosen.get_class(), self.backend.Backend)
        self.assertIs(AttentionBackendEnum[chosen.get_class().get_name()], chosen)

    def test_vllm_chooses_the_backend_on_a_hopper_gpu(self):
        try:
            from vllm.platforms.cuda import CudaPlatformBase
        except ImportError as missing:  # its operators need libcuda.so.1
            self.skipTest(str(missing))
        from vllm.platforms.interface import DeviceCapability
        from vllm.v1.attention.backends.registry import AttentionBackendEnum
        from vllm.v1.attention.selector import AttentionSelectorConfig

        fatune_attention.register_with_vllm()
        config = AttentionSelectorConfig(head_size=128, dtype=torch.bfloat16, kv_cache_dtype="auto", block_size=64,
                                         has_sliding_window=True)
        with unittest.mock.patch.object(CudaPlatformBase, "get_device_capability", return_value=DeviceCapability(9, 0)):
            choose = functools.partial(CudaPlatformBase.get_attn_backend_cls, AttentionBackendEnum.CUSTOM)
            self.assertEqual(choose(config), "fatune_attention._vllm.Backend")
            with self.assertRaisesRegex(ValueError, "batch invariance"):
                choose(config._replace(use_batch_invariant=True))

    def test_an_unknown_vllm_is_warned_of(self):
        with unittest.mock.patch.object(_enable, "register_with_vllm", side_effect=ImportError("no registry")):
            with self.assertWarnsRegex(UserWarning, "no registry"):
                _enable.vllm_plugin()

    def test_the_backend_is_flash_attention_but_for_what_kernels_cannot(self):
        from vllm.v1.attention.backend import AttentionCGSupport

        backend = self.backend.Backend
        self.assertTrue(issubclass(backend, self.flash_attn.FlashAttentionBackend))
        self.assertFalse(backend.supports_batch_invariance())
        self.assertIs(backend.get_builder_cls().get_cudagraph_support(None, None), AttentionCGSupport.UNIFORM_BATCH)

    def test_what_is_known_of_a_batch_is_of_this_vllm(self):
        self.assertLessEqual(self.backend._KNOWN, set(self.flash_attn.FlashAttentionMetadata.__annotations__))

    def check(self, batch, heads_inside, expected_options, **options):
        call, table, *pools = in_pages(*BATCHES[batch])
        kv_cache = self.cache(*pools, heads_inside)
        query = torch.cat((call[0], torch.full((2, 4, 16), float("nan"))))  # rows that fill a graph's batch up
        output = torch.full_like(query, 7.0)
        with self.kernels() as operands:
            result = self.impl(**options).forward(None, query, None, None, kv_cache, self.metadata(call, table), output)
        self.assertIs(result, output)
        self.assert_close(output[:-2], each_packed_alone(*call, right=0, scale=0.25, **expected_options)[0])
        self.assertTrue((output[-2:] == 7.0).all())
        self.assert_views(operands, kv_cache)
        self.assertEqual(len(operands), 1)

    def test_results(self):
        for batch in BATCHES:
            for heads_inside in (False, True):
                self.check(batch, heads_inside, {})
                self.check(batch, heads_inside, {"left": 2}, sliding_window=3)

    def test_softcaps_and_sinks_reach_the_operators(self):
        call, table, *pools = in_pages(*BATCHES["chunks"])
        impl = self.impl(logits_soft_cap=2.0)
        impl.sinks = torch.randn(4)
        with self.kernels() as operands:
            impl.forward(None, call[0], None, None, self.cache(*pools, False), self.metadata(call, table), call[0].clone())
        self.assertEqual(operands[0][8], 2.0)
        self.assertTrue(torch.equal(operands[0][9], impl.sinks))

    def test_vllm_computes_what_the_package_is_not_told_of(self):
        from vllm.v1.attention.backend import AttentionType

        call, table, *pools = in_pages(*BATCHES["chunks"])
        cache, ranges = self.cache(*pools, False), torch.zeros(1, 2, dtype=torch.int32)
        batch = functools.partial(self.metadata, call, table)
        one_of_two = self.impl()
        one_of_two.dcp_world_size = 2
        for impl, kv_cache, metadata, scales in (
                (self.impl(), cache, None, ()),
                (self.impl(), cache, batch(causal=False), ()),
                (self.impl(), cache, batch(causal=torch.ones(4, dtype=torch.int32)), ()),
                (self.impl(), cache, batch(mm_prefix_query_range_tensor=ranges), ()),
                (self.impl(), cache, batch(rswa_window=4), ()),
                (self.impl(), cache, batch(), (torch.ones(1),)),
                (self.impl(), cache.to(torch.float8_e4m3fn), batch(), ()),
                (self.impl(), torch.stack(pools), batch(), ()),
                (self.impl(alibi_slopes=[1.0] * 4), cache, batch(), ()),
                (one_of_two, cache, batch(), ()),
                (self.impl(attn_type=AttentionType.ENCODER_DECODER), cache, batch(), ())):
            with self.kernels() as operands, \
                    unittest.mock.patch.object(self.flash_attn.FlashAttentionImpl, "forward", return_value="own") as own:
                self.assertEqual(impl.forward("layer", *call[:3], kv_cache, metadata, call[0], *scales), "own")
            own.assert_called_once_with(impl, "layer", *call[:3], kv_cache, metadata, call[0], *(scales or (None,)), None)
            self.assertEqual(operands, [])

    def test_vllm_computes_where_there_is_no_kernel(self):
        call, table, *pools = in_pages(*BATCHES["chunks"])
        output = call[0].clone()
        with unittest.mock.patch.object(self.flash_attn.FlashAttentionImpl, "forward") as own:
            result = self.impl().forward(None, *call[:3], self.cache(*pools, False), self.metadata(call, table), output)
        self.assertIs(result, output)
        own.assert_called_once()


@unittest.skipIf(importlib.util.find_spec("sglang") is None, "sglang is not installed")
class Sglang(ServingTestCase):
    """SGLang's plug-in system and the function that is hooked, with tensors on a CPU."""
    def setUp(self):
        super().setUp()
        self.hook = importlib.import_module("fatune_attention._sglang")
        self.plugins = importlib.import_module("sglang.srt.plugins")
        self.function = importlib.import_module(self.hook.FUNCTION.rpartition(".")[0])

    def load(self, plugins):
        """Has SGLang load its plug-ins in a process of its own, so to say."""
        self.addCleanup(setattr, self.function, "flash_attn_with_kvcache", self.function.flash_attn_with_kvcache)
        self.addCleanup(self.plugins.HookRegistry.reset)
        self.plugins._plugins_loaded = False
        with unittest.mock.patch.dict(os.environ, {"SGLANG_PLUGINS": plugins}):
            self.plugins.load_plugins()
        return self.function.flash_attn_with_kvcache

    def test_the_plug_in_hooks_the_function_if_it_is_named(self):
        original = self.function.flash_attn_with_kvcache
        self.assertIs(self.load(""), original)
        self.assertIs(self.load("another"), original)
        self.assertIs(self.load("another, fatune_attention").__wrapped__, original)

    def test_the_arguments_are_of_this_sglang(self):
        parameters = set(inspect.signature(self.function.flash_attn_with_kvcache).parameters)
        self.assertLessEqual(self.hook._TOLD | self.hook._HOW, parameters)

    def call(self, batch, **options):
        """The arguments as SGLang's FlashAttention backend gives them."""
        call, table, k_pages, v_pages = in_pages(*BATCHES[batch])
        return call, dict(q=call[0], k_cache=k_pages, v_cache=v_pages, page_table=table, cache_seqlens=call[4].diff(),
                          cu_seqlens_q=call[3], cu_seqlens_k_new=call[4], max_seqlen_q=call[5], softmax_scale=0.3,
                          causal=True, window_size=(-1, -1), softcap=0.0, return_softmax_lse=False, num_splits=0, out=None,
                          ver=3, **options)

    def test_results(self):
        function = self.load("fatune_attention")
        for batch in BATCHES:
            for window, expected in (((-1, -1), {}), ((2, 0), {"left": 2})):
                call, options = self.call(batch)
                out = torch.full_like(call[0], float("nan"))
                with self.kernels() as operands:
                    o = function(**options | {"window_size": window})
                    self.assertIs(function(**options | {"window_size": window, "out": out}), out)
                self.assert_close(o, each_packed_alone(*call, right=0, scale=0.3, **expected)[0])
                self.assertTrue(torch.equal(o, out))
                for _, k, v, *_ in operands:
                    self.assertEqual((k.data_ptr(), v.data_ptr()),
                                     (options["k_cache"].data_ptr(), options["v_cache"].data_ptr()))

    def test_sinks_and_the_tables_room_reach_the_operators(self):
        _, options = self.call("chunks")
        sinks = torch.randn(4)
        with self.kernels() as operands:
            self.hook.around_attention(None, **options | {"softcap": 2.0, "sinks": sinks})
        self.assertEqual((operands[0][8], *operands[0][13:]), (2.0, 4, 2 * options["page_table"].size(1)))
        self.assertTrue(torch.equal(operands[0][9], sinks))

    def test_sglang_computes_what_the_package_is_not_told_of(self):
        call, options = self.call("chunks")
        scale = torch.ones(1)
        for changed in ({"return_softmax_lse": True}, {"num_splits": 1}, {"score_mod": len}, {"page_table": None},
                        {"k_descale": scale}, {"attention_chunk": 4}, {"mask_mod": len}, {"k": call[1]},
                        {"max_seqlen_q": scale}, {"q": call[0][None]}, {"an argument of a later SGLang": 1},
                        {"k_cache": options["k_cache"].to(torch.float8_e4m3fn)}):
            with self.kernels() as operands:
                own = unittest.mock.Mock(return_value="own")
                self.assertEqual(self.hook.around_attention(own, **options | changed), "own")
                own.assert_called_once_with(**options | changed)
            self.assertEqual(operands, [])
        own = unittest.mock.Mock(return_value="own")
        with self.kernels():
            self.assertEqual(self.hook.around_attention(own, call[0], **options), "own")

    def test_sglangs_backend_calls_the_function(self):
        try:
            from sglang.srt.layers.attention import flashattention_backend
        except ImportError as missing:  # its kernels need libcuda.so.1
            self.skipTest(str(missing).strip().partition("\n")[0])
        from sglang.srt.model_executor.forward_batch_info import ForwardMode

        self.load("fatune_attention")
        for batch, forward in (("decoding", "forward_decode"), ("chunks", "forward_extend")):
            call, options = self.call(batch)
            backend = flashattention_backend.FlashAttentionBackend.__new__(flashattention_backend.FlashAttentionBackend)
            pools = options["k_cache"].flatten(0, 1), options["v_cache"].flatten(0, 1)
            metadata = flashattention_backend.FlashAttentionMetadata(
                cache_seqlens_int32=options["cache_seqlens"], max_seq_len_q=call[5], cu_seqlens_q=call[3],
                cu_seqlens_k=call[4], page_table=options["page_table"])
            vars(backend).update(
                use_mla=False, page_size=2, topk=0, fa_impl_ver=3, num_splits=0, decode_num_splits=0, fa_skip_kv_cache=False,
                kv_cache_is_mxfp8=False, kv_cache_dtype_str="auto", local_attn_builder=None, forward_metadata=metadata,
                use_sliding_window_kv_pool=False, is_prefill_aware_swa=False, full_cg_prefill_metadata=None,
                _decode_uses_static_max_seqlen_k=False,
                token_to_kv_pool=types.SimpleNamespace(get_kv_buffer=lambda _: pools))
            layer = types.SimpleNamespace(
                layer_id=0, tp_q_head_num=4, tp_k_head_num=2, tp_v_head_num=2, head_dim=16, v_head_dim=16, scaling=0.3,
                sliding_window_size=-1, is_cross_attention=False, attn_type=None, logit_cap=0.0, k_scale=None, v_scale=None)
            mode = ForwardMode.DECODE if batch == "decoding" else ForwardMode.EXTEND
            with self.kernels() as operands:
                o = getattr(backend, forward)(call[0].flatten(1), None, None, layer, types.SimpleNamespace(
                    forward_mode=mode, spec_info=None, batch_size=4, spec_algorithm=None, attn_cp_metadata=None))
            self.assertEqual(len(operands), 1)
            self.assert_close(o.reshape(-1, 4, 16), each_packed_alone(*call, right=0, scale=0.3)[0])

    def test_sglang_computes_where_there_is_no_kernel(self):
        _, options = self.call("decoding")
        own = unittest.mock.Mock(return_value="own")
        self.assertEqual(self.hook.around_attention(own, **options), "own")
        own.assert_called_once_with(**options)


if __name__ == "__main__":
    unittest.main()

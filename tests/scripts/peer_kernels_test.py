"""Tests scripts/lib/peer_kernels.py: which peers are installed, and which can do which problem."""
import sys
import types
import unittest
import unittest.mock

from script_modules import run_tests
import attention_inputs
import flashinfer_attention
import peer_kernels

PROBLEM = {"batch": 1, "seq_len": 64, "heads": 1, "d_head": 64, "dtype": "FP16", "causal": True}


SETTINGS = {"softmax_scale": 1.0, "causal": True}


class Scales:
    def __init__(self, count):
        self._count = count

    def numel(self):
        return self._count

    def expand(self, shape):
        return types.SimpleNamespace(contiguous=lambda: (self._count, shape))


def with_inputs(**members):
    return attention_inputs.Inputs("q", "k", "v", True, 1.0, [9], **members)


INPUTS = with_inputs()
PACKED = attention_inputs.Inputs(["q"], ["k"], ["v"], True, 1.0, [3, 9], queries=[5, 2], cu_queries="ends of q",
                                 cu_keys="ends of k")


def fake_torch(has_cudnn):
    cudnn = types.SimpleNamespace(is_available=lambda: has_cudnn, version=lambda: 91900)
    return types.SimpleNamespace(__version__="2.0", backends=types.SimpleNamespace(cudnn=cudnn))


class Peers(unittest.TestCase):
    def test_what_is_missing_is_named_with_the_reason(self):
        with unittest.mock.patch.dict(sys.modules, flash_attn_interface=None, fa3_fwd_interface=None):
            peers, missing = peer_kernels.find_peers(fake_torch(False), ["fa2", "cudnn", "fa3"])
        self.assertEqual(list(peers), ["fa2"])
        self.assertEqual(missing["cudnn"], "PyTorch has no cuDNN here")
        self.assertRegex(missing["fa3"], "flash_attn_interface.*fa3_fwd_interface")
        self.assertEqual(list(peer_kernels.find_peers(fake_torch(True), ["cudnn"])[0]), ["cudnn"])

    def test_a_build_of_flash_attention_3_says_its_types(self):
        function = types.SimpleNamespace(flash_attn_func=lambda q, *_rest, **_settings: (q, "log-sum-exp"))
        built = types.SimpleNamespace(CONFIG={"build_flags": {"FLASHATTENTION_DISABLE_FP16": True}})
        without = types.SimpleNamespace(CONFIG={"build_flags": {"FLASHATTENTION_DISABLE_FP8": True}})
        for config, dtypes in ((built, ("BF16", "E4M3")), (without, ("FP16", "BF16")),
                               (None, ("FP16", "BF16", "E4M3"))):
            with unittest.mock.patch.dict(sys.modules, flash_attn_interface=function, flash_attn_config=config):
                fa3 = peer_kernels.find_peers(fake_torch(True), ["fa3"])[0]["fa3"]
            self.assertEqual((fa3.dtypes, fa3.version), (dtypes, "flash-attn-3"))
            self.assertEqual(fa3.make(INPUTS)(), "q")
        self.assertEqual(peer_kernels.cannot_do(peer_kernels.Peer("x", "1", None, dtypes=("BF16",)), PROBLEM),
                         "no FP16")

    def test_a_build_of_flash_attention_3_says_what_it_can_do(self):
        module = types.SimpleNamespace(flash_attn_func=None, flash_attn_varlen_func=None)
        self.assertEqual(peer_kernels._flash3_features(module, {}),
                         {"window", "softcap", "two_dims", "packed", "head_scales"})
        module.flash_attn_with_kvcache = None
        flags = {"FLASHATTENTION_DISABLE_LOCAL": True, "FLASHATTENTION_DISABLE_VARLEN": True}
        self.assertEqual(peer_kernels._flash3_features(module, flags), {"softcap", "two_dims", "pages", "head_scales"})

    def test_flash_attention_3_is_called_for_what_a_problem_asks_for(self):
        module = types.SimpleNamespace(flash_attn_func=self.called("dense"),
                                       flash_attn_varlen_func=self.called("packed"),
                                       flash_attn_with_kvcache=self.called("cache"))
        self.assertEqual(peer_kernels._flash3_launch(module, with_inputs(window=8, softcap=30.0))(),
                         ("dense", ("q", "k", "v"), {**SETTINGS, "num_splits": 0, "window_size": (7, 0),
                                                     "softcap": 30.0}))
        self.assertEqual(peer_kernels._flash3_launch(module, with_inputs(key_lengths="n", page_table="t"))(),
                         ("cache", ("q", "k", "v"), {**SETTINGS, "num_splits": 0, "cache_seqlens": "n",
                                                     "page_table": "t"}))
        name, tensors, _ = peer_kernels._flash3_launch(module, PACKED)()
        self.assertEqual((name, tensors), ("packed", ("q", "k", "v", "ends of q", "ends of k", 5, 9)))

    def test_flash_attention_4_is_called_for_what_a_problem_asks_for(self):
        module = types.SimpleNamespace(flash_attn_func=self.called("dense"),
                                       flash_attn_varlen_func=self.called("varlen"))
        launch = peer_kernels._flash4_launch
        self.assertEqual(launch(module, with_inputs(sinks="s", window=8))(),
                         ("dense", ("q", "k", "v"), {**SETTINGS, "window_size": (7, 0), "learnable_sink": "s"}))
        self.assertEqual(launch(module, with_inputs(key_lengths="n", page_table="t"))(),
                         ("varlen", ("q", "k", "v"), {**SETTINGS, "seqused_k": "n", "page_table": "t"}))
        self.assertEqual(launch(module, PACKED)(),
                         ("varlen", ("q", "k", "v"), {**SETTINGS, "cu_seqlens_q": "ends of q", "max_seqlen_q": 5,
                                                      "cu_seqlens_k": "ends of k", "max_seqlen_k": 9}))

    def test_flash_attention_3_has_scales_of_sequences_and_heads(self):
        module = types.SimpleNamespace(flash_attn_func=self.called("dense"))
        k = types.SimpleNamespace(shape=(1, 9, 4, 64))
        inputs = attention_inputs.Inputs("q", k, "v", True, 1.0, [9, 9], q_scales=Scales(1), k_scales=Scales(4),
                                         v_scales=Scales(4))
        _, _, settings = peer_kernels._flash3_launch(module, inputs)()
        self.assertEqual({name: settings[name] for name in ("q_descale", "k_descale", "v_descale")},
                         {"q_descale": (1, (2, 4)), "k_descale": (4, (2, 4)), "v_descale": (4, (2, 4))})
        inputs.q_scales = Scales(8)
        with self.assertRaisesRegex(NotImplementedError, "share a scale"):
            peer_kernels._flash3_launch(module, inputs)

    def test_elements_of_eight_bits(self):
        peers = peer_kernels.find_peers(fake_torch(True), ["fa2", "gemm"])[0]
        eight = {**PROBLEM, "dtype": "E4M3", "kv_dtype": "E4M3"}
        self.assertEqual(peer_kernels.cannot_do(peers["fa2"], eight), "no E4M3")
        self.assertEqual(peer_kernels.cannot_do(peers["fa2"], {**PROBLEM, "kv_dtype": "E5M2"}),
                         "K and V with the type of Q")
        self.assertIsNone(peer_kernels.cannot_do(peers["gemm"], {**eight, "kv_scales": "head"}))
        some = peer_kernels.Peer("x", "1", None, dtypes=("E4M3",))
        self.assertEqual(peer_kernels.cannot_do(some, {**eight, "kv_scales": "head"}), "one scale for all heads")
        some.features = frozenset({"eight_bits", "head_scales"})
        self.assertIsNone(peer_kernels.cannot_do(some, {**eight, "kv_scales": "head"}))
        self.assertEqual(peer_kernels.cannot_do(some, {**eight, "kv_scales": "block"}), "no scales of blocks")
        some.dtypes = ("FP16",)
        self.assertEqual(peer_kernels.cannot_do(some, {**PROBLEM, "kv_dtype": "E4M3", "kv_scales": "page"}),
                         "no scales of keys or pages")

    def test_cudnn_takes_eight_bits_with_nvidias_frontend(self):
        frontend = types.SimpleNamespace(__version__="1.22.1")
        for module, dtypes in ((frontend, ("FP16", "BF16", "E4M3")), (None, ("FP16", "BF16"))):
            with unittest.mock.patch.dict(sys.modules, cudnn=module):
                peer = peer_kernels.find_peers(fake_torch(True), ["cudnn"])[0]["cudnn"]
            self.assertEqual((peer.dtypes, "1.22.1" in peer.version), (dtypes, module is not None))
        self.assertIsNone(peer.output_scale(INPUTS))

    def test_flashinfer_leaves_the_scale_of_v_to_the_layer_behind_it(self):
        of = flashinfer_attention.output_scale
        self.assertEqual(of(with_inputs(k_scales="k", v_scales="v")), "v")
        self.assertIsNone(of(with_inputs(q_scales="q", k_scales="k", v_scales="v")))
        kernels = flashinfer_attention._kernels_with_pages(None, None, with_inputs(k_scales=Scales(4)))
        with self.assertRaisesRegex(NotImplementedError, "one scale for all heads"):
            kernels["eight_bits"](INPUTS)

    def called(self, name):
        return lambda *tensors, **settings: ((name, tensors, settings), "log-sum-exp")

    def test_flash_attention_4_without_a_function_for_lengths(self):
        plain = types.SimpleNamespace(flash_attn_func=None)
        package = types.ModuleType("flash_attn")
        for function, reason in ((False, "one length for all sequences"), (True, None)):
            with unittest.mock.patch.dict(sys.modules, {"flash_attn": package, "flash_attn.cute": plain}):
                fa4 = peer_kernels.find_peers(fake_torch(True), ["fa4"])[0]["fa4"]
            self.assertEqual(peer_kernels.cannot_do(fa4, {**PROBLEM, "seq_lens_kv": "100"}), reason)
            plain.flash_attn_varlen_func = None
        self.assertEqual(peer_kernels.cannot_do(fa4, {**PROBLEM, "latent": True}), "V as a tensor of its own")

    def test_flashinfer_decodes_one_latent_head_with_plain_scores(self):
        def inputs_of(heads=1, **members):
            q, k, v = (types.SimpleNamespace(shape=(1, 9, heads, columns)) for columns in (576, 576, 512))
            return attention_inputs.Inputs(q, k, v, False, 1.0, [9], is_latent=True, **members)

        for inputs in (inputs_of(heads=2), inputs_of(window=8), inputs_of(softcap=30.0), inputs_of(queries=[9])):
            kernels = flashinfer_attention.kernels(None, None, inputs)
            self.assertEqual(list(kernels), [f"mla_{backend}_pages_{keys}" for backend in ("fa2", "fa3")
                                             for keys in (64, 1)])
            with self.assertRaisesRegex(NotImplementedError, "one head of keys"):
                kernels["mla_fa3_pages_64"](inputs)

    def test_a_dense_product_is_timed_only_where_it_is_asked_for(self):
        self.assertNotIn("gemm", peer_kernels.DEFAULT_PEERS)
        gemm = peer_kernels.find_peers(fake_torch(True), ["gemm"])[0]["gemm"]
        self.assertEqual(gemm.flop, 2 * 8192**3)

    def test_problems_that_a_peer_cannot_do(self):
        fa2 = peer_kernels.find_peers(fake_torch(True), ["fa2"])[0]["fa2"]
        longer = {**PROBLEM, "seq_len_kv": 100}
        packed = {**PROBLEM, "seq_lens": "64,3"}
        self.assertIsNone(peer_kernels.cannot_do(fa2, longer))
        self.assertIsNone(peer_kernels.cannot_do(fa2, {**PROBLEM, "window": 8}))
        self.assertIsNone(peer_kernels.cannot_do(fa2, packed))
        self.assertEqual(peer_kernels.cannot_do(fa2, {**PROBLEM, "window": 8, "causal": False}),
                         "no window without a causal mask")
        self.assertEqual(peer_kernels.cannot_do(fa2, {**longer, "seq_lens_kv": "100"}), "one length for all sequences")
        self.assertIsNone(peer_kernels.cannot_do(fa2, {**PROBLEM, "seq_lens_kv": "", "page_size": 0, "sinks": False}))
        self.assertEqual(peer_kernels.cannot_do(fa2, {**PROBLEM, "page_size": 16}), "contiguous K and V")
        self.assertEqual(peer_kernels.cannot_do(fa2, {**PROBLEM, "kv_dtype": "E4M3"}), "K and V with the type of Q")
        eight_bits = {**PROBLEM, "dtype": "E4M3", "kv_dtype": "E4M3"}
        self.assertEqual(peer_kernels.cannot_do(fa2, eight_bits), "no E4M3")
        self.assertIsNone(peer_kernels.cannot_do(peer_kernels.Peer("x", "1", None, dtypes=("E4M3",)), eight_bits))
        self.assertEqual(peer_kernels.cannot_do(fa2, {**PROBLEM, "d_head_v": 32}), "one head dimension")
        self.assertEqual(peer_kernels.cannot_do(fa2, {**PROBLEM, "softcap": 30.0}), "no softcap")
        self.assertEqual(peer_kernels.cannot_do(fa2, {**packed, "sinks": True}), "no sinks")


if __name__ == "__main__":
    run_tests()

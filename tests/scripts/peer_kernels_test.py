"""Tests scripts/lib/peer_kernels.py: which peers are installed, and which can do which problem."""
import sys
import types
import unittest
import unittest.mock

from script_modules import run_tests
import peer_kernels

PROBLEM = {"batch": 1, "seq_len": 64, "heads": 1, "d_head": 64, "dtype": "FP16", "causal": True}


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
        built = types.SimpleNamespace(CONFIG={"build_flags": {"FLASHATTENTION_DISABLE_FP16": False}})
        for config, dtypes in ((built, ("FP16", "BF16")), (None, ("FP16", "BF16"))):
            with unittest.mock.patch.dict(sys.modules, flash_attn_interface=function, flash_attn_config=config):
                fa3 = peer_kernels.find_peers(fake_torch(True), ["fa3"])[0]["fa3"]
            self.assertEqual((fa3.dtypes, fa3.version), (dtypes, "flash-attn-3"))
            self.assertEqual(fa3.make("q", "k", "v", True, 1.0)(), "q")
        self.assertEqual(peer_kernels.cannot_do(peer_kernels.Peer("x", "1", None, True, dtypes=("BF16",)), PROBLEM),
                         "no FP16")

    def test_flash_attention_4_takes_lengths_where_it_has_a_function_for_them(self):
        plain = types.SimpleNamespace(flash_attn_func=lambda q, *_rest, **_settings: (q, None))
        package = types.ModuleType("flash_attn")
        torch = fake_torch(True)
        torch.int32, torch.tensor = "int32", lambda values, dtype, device: (values, dtype, device)
        q = types.SimpleNamespace(device="cuda")
        with unittest.mock.patch.dict(sys.modules, {"flash_attn": package, "flash_attn.cute": plain}):
            fa4 = peer_kernels.find_peers(torch, ["fa4"])[0]["fa4"]
            self.assertEqual(fa4.make(q, "k", "v", True, 1.0)(), q)
            self.assertIn("one length", peer_kernels.cannot_do(fa4, {**PROBLEM, "seq_lens_kv": "100"}))
            plain.flash_attn_varlen_func = lambda *tensors, **settings: (settings["seqused_k"], None)
            fa4 = peer_kernels.find_peers(torch, ["fa4"])[0]["fa4"]
        self.assertIsNone(peer_kernels.cannot_do(fa4, {**PROBLEM, "seq_lens_kv": "100"}))
        self.assertEqual(fa4.make_for_lengths([100], q, "k", "v", True, 1.0)(), ([100], "int32", "cuda"))

    def test_a_dense_product_is_timed_only_where_it_is_asked_for(self):
        self.assertNotIn("gemm", peer_kernels.DEFAULT_PEERS)
        gemm = peer_kernels.find_peers(fake_torch(True), ["gemm"])[0]["gemm"]
        self.assertEqual(gemm.flop, 2 * 8192**3)

    def test_problems_that_a_peer_cannot_do(self):
        fa2 = peer_kernels.find_peers(fake_torch(True), ["fa2"])[0]["fa2"]
        aligned_at_the_begin = peer_kernels.Peer("x", "1", None, False)
        longer = {**PROBLEM, "seq_len_kv": 100}
        self.assertIsNone(peer_kernels.cannot_do(aligned_at_the_begin, PROBLEM))
        self.assertIn("causal mask", peer_kernels.cannot_do(aligned_at_the_begin, longer))
        self.assertIsNone(peer_kernels.cannot_do(aligned_at_the_begin, {**longer, "causal": False}))
        self.assertIsNone(peer_kernels.cannot_do(aligned_at_the_begin, {**longer, "seq_len": 1}))
        self.assertIsNone(peer_kernels.cannot_do(fa2, longer))
        self.assertEqual(peer_kernels.cannot_do(fa2, {**PROBLEM, "window": 8}), "no window")
        self.assertEqual(peer_kernels.cannot_do(fa2, {**longer, "seq_lens_kv": "100"}), "one length for all sequences")
        self.assertIsNone(peer_kernels.cannot_do(fa2, {**PROBLEM, "seq_lens_kv": "", "page_size": 0}))
        self.assertEqual(peer_kernels.cannot_do(fa2, {**PROBLEM, "page_size": 16}), "contiguous K and V")
        self.assertEqual(peer_kernels.cannot_do(fa2, {**PROBLEM, "d_head_v": 32}), "one head dimension")


if __name__ == "__main__":
    run_tests()

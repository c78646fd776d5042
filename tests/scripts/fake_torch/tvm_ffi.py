"""The part of tvm_ffi that scripts/lib/flash4_kernels.py uses. Each library has the kernel's function, which lets
time pass, and takes what the library's name says."""
import pathlib

import torch


def _integers(tensor, sequences):
    return tensor.dtype == torch.int32 and len(tensor.values) == sequences


def _forward_of(name):
    def forward(q, k, v, out, lse, scale, ends_q, ends_k, used_q, used_k, pages, left, right, sinks, sparse, other,
                *sums):
        assert q.shape[:-1] == out.shape[:-1] and v.shape[-1] == out.shape[-1] and q.dtype == out.dtype
        assert isinstance(scale, float) and lse is used_q is sparse is None
        assert other == (None, None) and sums == (None, None)
        assert ("packed" in name) == (ends_q is not None) and (ends_q is None) == (ends_k is None)
        assert ("packed" in name) == (len(q.shape) == 3)
        assert ("lengths" in name or "pages" in name) == (used_k is not None)
        assert used_k is None or _integers(used_k, q.shape[0])
        assert ("pages" in name) == (pages is not None) and (pages is None or pages.shape[0] == q.shape[0])
        assert (left, right) == (None, None) if "window" not in name else left >= 0 and right == 0
        assert ("sinks" in name) == (sinks is not None)
        torch.pass_time(0.04)

    return forward


def load_module(path):
    with open(path, encoding="utf-8"):
        return {"flash4_forward": _forward_of(pathlib.Path(path).stem.split("_"))}

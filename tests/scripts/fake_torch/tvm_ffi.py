"""The part of tvm_ffi that scripts/lib/flash4_kernels.py uses. Each library has the kernel's function, which lets
time pass."""
import torch


def _forward(q, k, v, out, lse, scale, *rest):
    assert q.shape == out.shape and k.shape == v.shape and q.dtype == out.dtype and lse is None
    assert isinstance(scale, float) and rest == (*[None] * 9, (None, None), None, None)
    torch.pass_time(0.04)


def load_module(path):
    with open(path, encoding="utf-8"):
        return {"flash4_forward": _forward}

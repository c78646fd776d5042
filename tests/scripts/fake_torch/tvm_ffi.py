"""The part of tvm_ffi that scripts/lib/flash4_kernels.py uses. Each library has the kernel's function, which lets
time pass."""
import torch


def _forward(q, k, v, out, lse, scale, *rest):
    assert q.shape == out.shape and k.shape == v.shape and q.dtype == out.dtype and lse is None
    assert isinstance(scale, float) and rest[:3] == (None,) * 3 and rest[4:] == (*[None] * 5, (None, None), None, None)
    torch.pass_time(0.04)


def _forward_for_lengths(q, *rest):
    assert len(rest[8].values) == q.shape[0] and rest[8].dtype == torch.int32
    _forward(q, *rest)


def _forward_for_one_length(*arguments):
    assert arguments[9] is None
    _forward(*arguments)


def load_module(path):
    with open(path, encoding="utf-8"):
        return {"flash4_forward": _forward_for_lengths if "_lengths" in path else _forward_for_one_length}

"""The part of PyTorch that scripts/compare_peers and the recorder of workloads use, without a GPU. Tensors have an
address and a shape, but no content; those of tensor() have values.

Only launches let time pass: 0.1 ms for a kernel of the fake driver (FATUNE_LIBCUDA), 0.2 for PyTorch's flash backend,
0.05 for cuDNN, 0.04 for FlashAttention-4's libraries, 1 for a product. FAKE_TORCH_DIFFERENCE is the difference between
any two outputs. FAKE_TORCH_CUDNN_ERROR is cuDNN's error message; with FAKE_TORCH_CUDNN_ENDS_CONTEXT the context is dead
from then on. While `cuda.is_late`, the GPU has come to no event.
"""
import contextlib
import ctypes
import itertools
import math
import os
import types

__version__ = "0.0-fake"
version = types.SimpleNamespace(cuda="13.0")
float16, bfloat16, float32 = "float16", "bfloat16", "float32"
float8_e4m3fn, float8_e5m2 = "float8_e4m3fn", "float8_e5m2"
int32, int8, uint8 = "int32", "int8", "uint8"

_driver = ctypes.CDLL(os.environ["FATUNE_LIBCUDA"])
_driver.fatune_fake_launches.restype = ctypes.c_longlong
_driver.cuInit(0)
_addresses = itertools.count(1 << 40, 1 << 32)
_of_peers_ms = 0.0
_is_dead = False
_difference = float(os.environ.get("FAKE_TORCH_DIFFERENCE", "0"))


class Tensor:
    device = "cuda"
    is_cuda = True
    is_nested = requires_grad = False

    def __init__(self, shape, dtype=float32):
        self.shape, self.dtype = tuple(shape), dtype
        self._address = next(_addresses)

    def data_ptr(self):
        return self._address

    def _same(self, *_arguments):
        return self

    fill_ = normal_ = zero_ = float = abs = max = triu = __sub__ = __setitem__ = _same

    def __getitem__(self, place):
        if place == 0:
            return Tensor(self.shape[1:], self.dtype)
        rest, columns = place
        assert rest is ... and columns.start is None and columns.stop <= self.shape[-1]
        return Tensor((*self.shape[:-1], columns.stop), self.dtype)

    def is_contiguous(self):
        return True

    def view(self, *shape):
        assert math.prod(shape) == math.prod(self.shape), (shape, self.shape)
        return Tensor(shape, self.dtype)

    reshape = view

    def transpose(self, first, second):
        shape = list(self.shape)
        shape[first], shape[second] = shape[second], shape[first]
        return Tensor(shape, self.dtype)

    def item(self):
        return _difference

    def copy_(self, other, non_blocking=False):
        self.values = list(other.values)
        return self

    def tolist(self):
        return self.values


def _tensor(shape, *_rest, dtype=float32, **_options):
    return Tensor(shape if isinstance(shape, (tuple, list)) else (shape,), dtype)


def pass_time(ms):
    global _of_peers_ms
    _of_peers_ms += ms


def mm(_a, _b, *, out):
    pass_time(1.0)
    return out


def randn(*shape, **_options):
    return Tensor(shape)


def tensor(values, dtype=float32, device="cuda"):
    one = Tensor((len(values),), dtype)
    one.values = list(values)
    return one


def arange(start, end, step=1, dtype=float32, device="cuda"):
    return tensor(range(start, end, step), dtype, device)


def empty_like(tensor):
    return Tensor(tensor.shape, tensor.dtype)


zeros = empty = full = empty_strided = _tensor
inference_mode = contextlib.nullcontext


class _Event:
    def __init__(self, enable_timing):
        assert enable_timing

    def record(self, _stream=None):
        self.at_ms = _of_peers_ms + _driver.fatune_fake_launches() * 0.1

    def query(self):
        return not cuda.is_late

    def synchronize(self):
        _synchronize()

    def elapsed_time(self, end):
        return end.at_ms - self.at_ms


def _synchronize():
    if _is_dead or _driver.cuCtxSynchronize() != 0:
        raise RuntimeError("CUDA error: the context has ended")


def _attention(ms, q, k, v):
    pass_time(ms)
    assert q.shape[1] % k.shape[1] == 0 and k.shape[:3] == v.shape[:3], "heads come before positions"
    return (Tensor((*q.shape[:3], v.shape[3])),)


def _flash(q, k, v, dropout_p, is_causal, *, scale):
    assert dropout_p == 0.0 and isinstance(is_causal, bool) and scale > 0
    return _attention(0.2, q, k, v)


def _cudnn(q, k, v, attn_bias, compute_log_sumexp, dropout_p, is_causal, *, scale):
    global _is_dead
    _is_dead = "FAKE_TORCH_CUDNN_ENDS_CONTEXT" in os.environ
    if error := os.environ.get("FAKE_TORCH_CUDNN_ERROR"):
        raise RuntimeError(error)
    assert not compute_log_sumexp and isinstance(is_causal, bool)
    assert attn_bias is None or (not is_causal and attn_bias.shape == (q.shape[2], k.shape[2]))
    assert not is_causal or q.shape[2] == k.shape[2], "its mask begins at the first key"
    assert dropout_p == 0.0 and scale > 0
    return _attention(0.05, q, k, v)


def _ended(q, k, ends_q, ends_k, most_q, most_k):
    """Checks where the sequences of a packed batch end."""
    for tensor, ends, most in ((q, ends_q, most_q), (k, ends_k, most_k)):
        lengths = [end - begin for begin, end in itertools.pairwise(ends.values)]
        assert ends.dtype == int32 and ends.values[0] == 0 and ends.values[-1] == tensor.shape[0]
        assert max(lengths) == most and min(lengths) >= 0 and len(tensor.shape) == 3


def check_packed(q, k, v, *ends):
    assert q.shape[1] % k.shape[1] == 0 and k.shape[:2] == v.shape[:2] and len(ends[0].values) == len(ends[1].values)
    _ended(q, k, *ends)
    return Tensor((*q.shape[:2], v.shape[2]), q.dtype)


def _flash_forward(q, k, v, ends_q, ends_k, most_q, most_k, dropout_p, is_causal, return_debug_mask, *, scale,
                   window_size_left=None, window_size_right=None):
    assert dropout_p == 0.0 and not return_debug_mask and scale > 0 and is_causal
    pass_time(0.2)
    if ends_q is not None:
        return (check_packed(q, k, v, ends_q, ends_k, most_q, most_k),)
    assert window_size_left >= 0 and window_size_right == 0 and (most_q, most_k) == (q.shape[1], k.shape[1])
    return (empty_like(q),)


ops = types.SimpleNamespace(aten=types.SimpleNamespace(
    _flash_attention_forward=types.SimpleNamespace(default=_flash_forward),
    _scaled_dot_product_flash_attention=types.SimpleNamespace(default=_flash),
    _scaled_dot_product_cudnn_attention=types.SimpleNamespace(default=_cudnn)))
backends = types.SimpleNamespace(cudnn=types.SimpleNamespace(is_available=lambda: True, version=lambda: 91900))
cuda = types.SimpleNamespace(
    Event=_Event, is_available=lambda: True, synchronize=_synchronize, empty_cache=lambda: None, _sleep=lambda cycles: None,
    get_device_name=lambda: "Fake H200", get_device_capability=lambda: (9, 0), clock_rate=lambda: 1755,
    get_device_properties=lambda ordinal: types.SimpleNamespace(multi_processor_count=132),
    current_stream=lambda device=None: types.SimpleNamespace(cuda_stream=0), is_current_stream_capturing=lambda: False,
    is_late=False)
is_grad_enabled = is_autocast_enabled = lambda *_: False
compiler = types.SimpleNamespace(is_compiling=lambda: False)

import torch.nn.functional  # noqa: E402

"""Loads the operators, and registers what PyTorch needs in addition to their kernels."""
import pathlib

import torch

from . import _fallback

NAMESPACE = __package__

torch.ops.load_library(next(pathlib.Path(__file__).parent.glob("_C*.so")))
_operators = getattr(torch.ops, NAMESPACE)
forward = _operators.forward.default
forward_lse = _operators.forward_lse.default
explain = _operators.explain.default

untuned_is_allowed = False  # set by allow_untuned()


def allow_untuned(allow=True):
    """Lets kernels compute calls that no tuned problem is like. PyTorch's own attention may be much faster there."""
    global untuned_is_allowed
    untuned_is_allowed = allow


@torch.library.register_fake(f"{NAMESPACE}::forward")
def _fake_forward(q, k, v, *_, **__):
    return _fallback.empty_output(q, v)


@torch.library.register_fake(f"{NAMESPACE}::forward_lse")
def _fake_forward_lse(q, k, v, *_, **__):
    return _fallback.empty_output(q, v), q.new_empty(q.shape[:3], dtype=torch.float32)


def _on_cpu(attention):
    def call(q, k, v, causal=False, window=0, scale=None, allow_untuned=False, *further, **named):
        return attention(q, k, v, causal, window, scale, *further, reason="the tensors are on the CPU", **named)

    return call


# The operators call these where no kernel is eligible. On the CPU, that is always the case.
_library = torch.library.Library(NAMESPACE, "IMPL")
_library.impl("fallback", _fallback.attention, "CUDA")
_library.impl("fallback_lse", _fallback.attention_lse, "CUDA")
_library.impl("forward", _on_cpu(_fallback.attention), "CPU")
_library.impl("forward_lse", _on_cpu(_fallback.attention_lse), "CPU")

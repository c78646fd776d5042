"""Attention in serving engines: a tuned kernel computes a call, or the engine's own attention does."""
import torch

from . import _varlen
from ._explain import explanation_of
from ._fallback import warn_once
from ._operators import forward
from ._record import recorded

_MOST_KEPT = 4096
_refusals = {}  # of calls by all that the choice of a kernel depends on


def _facts(value):
    return (value.shape, value.stride(), value.dtype, value.device) if isinstance(value, torch.Tensor) else value


def _find_refusal(call):
    explanation, untuned_is_allowed = explanation_of(call), call[6]
    if explanation.untuned and not untuned_is_allowed:
        return f"no tuned problem is like this one ({explanation.untuned})", explanation.untuned.partition(":")[0]
    return explanation.reason, explanation.reason


def _refusal(call):
    """Returns why no kernel computes an operator's call, and the kind of that reason; empty texts if one does. Layers
    whose tensors are alike share one search."""
    key = tuple(map(_facts, call))
    if key not in _refusals:
        if len(_refusals) >= _MOST_KEPT:
            _refusals.clear()
        _refusals[key] = _find_refusal(call)
    return _refusals[key]


def attention(engine, own, out, **call):
    """Computes flash_attn_varlen_func(**call), and returns the result, which is in `out` unless that is None. Where no
    kernel is eligible, or nothing that was tuned is like the call, own() does, and a warning says why once for each
    reason. `engine` is the name of the program that own() belongs to. A recording has calls of both kinds."""
    def flash_attn_varlen_func(**call):
        reason, operands = _varlen.operator_call(**call)
        kind = reason
        if reason is None:
            reason, kind = _refusal(operands)
        if reason:
            warn_once(reason, kind, f"{engine}'s own attention")
            return own()
        o = forward(*operands).transpose(1, 2).flatten(0, 1)
        return o if out is None else out.copy_(o)

    return recorded(flash_attn_varlen_func)(**call)

"""Explains which kernel a call would run."""
from typing import NamedTuple

from . import _flash, _kvcache, _operators, _sdpa, _varlen

_CALLS = {_sdpa.scaled_dot_product_attention: _sdpa.operator_call, _flash.flash_attn_func: _flash.operator_call,
          _kvcache.flash_attn_with_kvcache: _kvcache.operator_call,
          _varlen.flash_attn_varlen_func: _varlen.operator_call}


class Explanation(NamedTuple):
    """`step` says how the kernel was selected, the most reliable way first: exact, predicted, same bucket,
    neighbouring bucket, same architecture, nearest, default. If it is "refused", `reason` says why, and PyTorch's own
    attention is used. If `untuned` is not empty, no tuned problem is like the call: nothing says that the kernel is a
    good one, and PyTorch's own attention is used unless allow_untuned() was called."""
    step: str
    config: str = ""  # in fatune's short form
    reason: str = ""
    device: str = ""
    tuned_us: float = 0.0  # time of the tuned problem, or the predicted time; 0 without one
    regret_percent: float = float("nan")  # how much slower the configuration was there than the fastest; nan: unknown
    untuned: str = ""  # what is unlike all tuned problems: "queries: 300; tuned: 512 to 16384"
    tried: int = 0  # kernels the fastest of which it was on calls of this process; 0: none were, or not yet (try_kernels)
    workspace_bytes: int = 0


def _parse(text):
    values = dict(line.split("=", 1) for line in text.splitlines())
    kinds = Explanation.__annotations__
    return Explanation(**{name: kinds[name](value) for name, value in values.items()})


def explanation_of(call, lse=False):
    """Returns an Explanation of an operator's call."""
    return _parse(_operators.explain(*call, lse=lse))


def explain(q, k, v, *arguments, like=_sdpa.scaled_dot_product_attention, **options):
    """Returns an Explanation of which kernel `like`, a function of this package, would run for its arguments."""
    reason, call = _CALLS[like](q, k, v, *arguments, **options)
    if reason is not None:
        return Explanation("refused", reason=reason)
    lse = options.get("return_attn_probs", False) or options.get("return_softmax_lse", False)
    return explanation_of(call, lse)

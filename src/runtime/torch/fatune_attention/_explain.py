"""Says which kernel a call would run."""
from typing import NamedTuple

from . import _flash, _operators, _sdpa

_CALLS = {_sdpa.scaled_dot_product_attention: _sdpa.operator_call, _flash.flash_attn_func: _flash.operator_call}


class Explanation(NamedTuple):
    """`step` says how the kernel was come to, the surest way first: exact, same bucket, neighbouring bucket, same
    architecture, default; or refused, for `reason`, and PyTorch's own attention is used."""
    step: str
    config: str = ""  # in fatune's short form
    reason: str = ""
    device: str = ""
    tuned_us: float = 0.0  # what the tuned problem took; 0 without one
    regret_percent: float = 0.0  # by how much the configuration was slower there than the fastest
    workspace_bytes: int = 0


def _parse(text):
    values = dict(line.split("=", 1) for line in text.splitlines())
    kinds = Explanation.__annotations__
    return Explanation(**{name: kinds[name](value) for name, value in values.items()})


def explain(q, k, v, *arguments, like=_sdpa.scaled_dot_product_attention, **options):
    """Which kernel `like`, a function of this package, would run for its arguments; an Explanation."""
    reason, call = _CALLS[like](q, k, v, *arguments, **options)
    if reason is not None:
        return Explanation("refused", reason=reason)
    return _parse(_operators.explain(*call, options.get("return_attn_probs", False)))

"""Loads the operators, and registers what PyTorch needs in addition to their kernels."""
import os
import pathlib

import torch

from . import _fallback

NAMESPACE = __package__

torch.ops.load_library(next(pathlib.Path(__file__).parent.glob("_C*.so")))
_operators = getattr(torch.ops, NAMESPACE)

MOST_CANDIDATES = 12  # of a trial
VARIABLE = "FATUNE_ATTENTION_TRIALS"

untuned_is_allowed = False  # set by allow_untuned()
_candidates = MOST_CANDIDATES  # set by try_kernels()


def allow_untuned(allow=True):
    """Lets kernels compute calls that no tuned problem is like. PyTorch's own attention may be much faster there."""
    global untuned_is_allowed
    untuned_is_allowed = allow


def try_kernels(candidates=MOST_CANDIDATES):
    """Has the first calls of each problem that was not tuned try as many kernels, those with the least predicted times,
    of which later calls have the fastest. 1, False or None: none are tried. Of the environment variable
    FATUNE_ATTENTION_TRIALS, the number is taken when the package is imported; without both, it is 12. Nothing is tried with
    torch.use_deterministic_algorithms(True): the last bits of results depend on the kernel."""
    global _candidates
    count = int(candidates or 1)
    if not 1 <= count <= MOST_CANDIDATES:
        raise ValueError(f"try_kernels: from 1 to {MOST_CANDIDATES} kernels can be tried, not {candidates}")
    _candidates = count


def _candidates_here():
    return 1 if torch.are_deterministic_algorithms_enabled() else _candidates


def _start_from_environment():
    text = os.environ.get(VARIABLE, "")
    if text:
        try:
            try_kernels(int(text))
        except ValueError:
            raise ImportError(f"{VARIABLE} is {text!r}: a number from 1, which tries none, to {MOST_CANDIDATES}") from None


_start_from_environment()


def forward(*call):
    return _operators.forward.default(*call, candidates=_candidates_here())


def forward_lse(*call):
    return _operators.forward_lse.default(*call, candidates=_candidates_here())


def explain(*call, lse):
    return _operators.explain.default(*call, candidates=_candidates_here(), lse=lse)


@torch.library.register_fake(f"{NAMESPACE}::forward")
def _fake_forward(q, k, v, *_, **__):
    return _fallback.empty_output(q, v)


@torch.library.register_fake(f"{NAMESPACE}::forward_lse")
def _fake_forward_lse(q, k, v, *_, **__):
    return _fallback.empty_output(q, v), q.new_empty(q.shape[:3], dtype=torch.float32)


def _on_cpu(attention):
    def call(q, k, v, causal=False, window=0, scale=None, allow_untuned=False, *further, candidates=1, **named):
        return attention(q, k, v, causal, window, scale, *further, reason="the tensors are on the CPU", **named)

    return call


# The operators call these where no kernel is eligible. On the CPU, that is always the case.
_library = torch.library.Library(NAMESPACE, "IMPL")
_library.impl("fallback", _fallback.attention, "CUDA")
_library.impl("fallback_lse", _fallback.attention_lse, "CUDA")
_library.impl("forward", _on_cpu(_fallback.attention), "CPU")
_library.impl("forward_lse", _on_cpu(_fallback.attention_lse), "CPU")

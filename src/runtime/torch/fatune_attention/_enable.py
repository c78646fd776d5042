"""Puts the package's attention in the place of PyTorch's, and offers it to transformers, vLLM and SGLang."""
import contextlib
import os
import threading
import warnings

from torch.nn import functional

from ._fallback import attention_by_scores, attention_of_tensors
from ._flash import flash_attn_func
from ._sdpa import scaled_dot_product_attention

_lock = threading.Lock()
_replaced = []  # what torch.nn.functional had, of each enable() that is in force


class _Enabled(contextlib.AbstractContextManager):
    def __exit__(self, *_):
        disable()


def enable():
    """Has torch.nn.functional.scaled_dot_product_attention call the package's function, for all code that looks it up
    there: torch.nn.MultiheadAttention's Python path, and models of transformers with attn_implementation="sdpa", among
    others. Code that imported the function by its name keeps PyTorch's. `disable()` undoes it, and so does the end of
    `with enable():`; what was enabled twice must be undone twice."""
    with _lock:
        _replaced.append(functional.scaled_dot_product_attention)
        functional.scaled_dot_product_attention = scaled_dot_product_attention
    return _Enabled()


def disable():
    """Undoes the last enable(). Does nothing if none is in force."""
    with _lock:
        if _replaced:
            functional.scaled_dot_product_attention = _replaced.pop()


def _without_mask(query, key, value, dropout, scaling, causal, softcap, sinks):
    """Returns (batch, rows, heads, d)."""
    rows_first = (tensor.transpose(1, 2) for tensor in (query, key, value))
    try:
        return flash_attn_func(*rows_first, dropout_p=dropout, softmax_scale=scaling, causal=causal,
                               softcap=softcap, learnable_sink=sinks)
    except NotImplementedError:  # no operator computes them here
        return attention_of_tensors(query, key, value, causal, 0, scaling, softcap=softcap, sinks=sinks).transpose(1, 2)


def attention_of_module(module, query, key, value, attention_mask, dropout=0.0, scaling=None, is_causal=None,
                        softcap=None, s_aux=None, position_bias=None, **_):
    """Attention as transformers' models call it: query, key and value are (batch, heads, rows, d), the result is
    (batch, rows, heads, d). `softcap` is Gemma's, and `s_aux` gpt-oss's sinks (heads). PyTorch's own attention is used
    wherever the package's functions use it, and with an explicit mask or a bias."""
    causal = query.size(2) > 1 and (getattr(module, "is_causal", True) if is_causal is None else is_causal)
    if position_bias is not None:
        raise NotImplementedError("position_bias has no kernels: use attn_implementation=\"sdpa\"")
    if attention_mask is None:
        if causal and key.size(2) > query.size(2):  # a static cache whose rows behind the prompt are still empty
            key, value = key[:, :, :query.size(2)], value[:, :, :query.size(2)]
        return _without_mask(query, key, value, dropout, scaling, causal, softcap or 0.0, s_aux), None
    if softcap or s_aux is not None:
        o = attention_by_scores(query, key, value, attention_mask, scaling, softcap, s_aux)
    else:
        o = scaled_dot_product_attention(query, key, value, attention_mask, dropout, scale=scaling,
                                         enable_gqa=query.size(1) != key.size(1))
    return o.transpose(1, 2).contiguous(), None


def register_with_transformers(name="fatune"):
    """Offers the package's attention to transformers: attn_implementation=name of from_pretrained() and
    set_attn_implementation() then mean it. Needs transformers 4.53 or newer. Masks are those of "sdpa"."""
    from transformers import AttentionInterface, AttentionMaskInterface

    AttentionInterface.register(name, attention_of_module)
    AttentionMaskInterface.register(name, AttentionMaskInterface()["sdpa"])


def register_with_vllm():
    """Offers the package to vLLM as its attention backend CUSTOM: vLLM's FlashAttention backend, of which kernels of the
    package compute what they can. vLLM's processes call it if the package is installed."""
    from vllm.v1.attention.backends.registry import AttentionBackendEnum, register_backend

    register_backend(AttentionBackendEnum.CUSTOM, f"{__package__}._vllm.Backend")


def vllm_plugin():
    """What vLLM's processes call. An error in it would end them."""
    try:
        register_with_vllm()
    except ImportError as missing:
        warnings.warn(f"{__package__}: this vLLM has no registry of attention backends that the package knows: {missing}")


def register_with_sglang():
    """Has kernels of the package compute what they can of the attention of SGLang's FlashAttention backends, fa3 and fa4.
    SGLang's plug-in system applies it after all plug-ins are loaded."""
    from sglang.srt.plugins.hook_registry import HookRegistry, HookType

    from . import _sglang

    HookRegistry.register(_sglang.FUNCTION, _sglang.around_attention, HookType.AROUND)


def sglang_plugin():
    """What SGLang's processes call. It does nothing unless SGLANG_PLUGINS names the package."""
    if __package__ in (name.strip() for name in os.environ.get("SGLANG_PLUGINS", "").split(",")):
        register_with_sglang()

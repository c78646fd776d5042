"""Attention with kernels tuned by fatune, and with PyTorch's own attention where none of them is eligible or nothing
that was tuned is like the call.

The kernels compute the forward pass only. Where gradients are needed, PyTorch's own attention is used.
"""
from ._enable import disable, enable, register_with_sglang, register_with_transformers, register_with_vllm
from ._explain import Explanation, explain
from ._flash import flash_attn_func
from ._kvcache import flash_attn_with_kvcache
from ._operators import allow_untuned, try_kernels
from ._record import record, start_from_environment
from ._sdpa import scaled_dot_product_attention
from ._varlen import flash_attn_varlen_func

__all__ = ["Explanation", "allow_untuned", "disable", "enable", "explain", "flash_attn_func", "flash_attn_varlen_func",
           "flash_attn_with_kvcache", "record", "register_with_sglang", "register_with_transformers", "register_with_vllm",
           "scaled_dot_product_attention", "try_kernels"]

start_from_environment()

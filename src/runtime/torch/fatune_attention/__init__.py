"""Attention by kernels that fatune has tuned, and by PyTorch's own where none of them is eligible.

Forward pass only: where gradients are wanted, PyTorch's own attention is used.
"""
from ._explain import Explanation, explain
from ._flash import flash_attn_func
from ._sdpa import scaled_dot_product_attention

__all__ = ["Explanation", "explain", "flash_attn_func", "scaled_dot_product_attention"]

"""PyTorch's scaled_dot_product_attention, computed by a tuned kernel where one is eligible."""
import torch
from torch.nn.functional import scaled_dot_product_attention as pytorch_attention
from torch.overrides import has_torch_function

from . import _operators
from ._fallback import warn_once
from ._operators import forward
from ._record import recorded


def _misfit(q, k, v, enable_gqa, has_pages):
    """Returns why the shapes do not suit the operators, or None if they do. With pages, k and v have no batch."""
    q, k, v = q.shape, k.shape, v.shape
    if len(q) == 4 and q == k == v:
        return None
    if len(q) != 4 or len(k) != 4 or len(v) != 4:
        return "a tensor does not have 4 dimensions"
    batch, heads, _, columns = q
    kv_batch, kv_heads, _, k_columns = k
    if (kv_batch != batch and not has_pages) or k_columns != columns or v[:3] != k[:3]:
        return "the shapes of query, key and value do not match"
    if heads != kv_heads and (not enable_gqa or kv_heads == 0 or heads % kv_heads != 0):
        return "query and key have different numbers of heads"
    return None


def tensors_refusal(q, k, v, dropout_p, enable_gqa, has_pages=False):
    """Returns why the operators cannot compute attention of tensors (batch, heads, rows, d), or None if they can. With
    pages, k and v are pools (pages, heads, rows of a page, d)."""
    if dropout_p != 0.0:
        return "dropout_p is not 0"
    if not q.is_cuda:
        return "the tensors are not on a CUDA device"
    if torch.is_grad_enabled() and (q.requires_grad or k.requires_grad or v.requires_grad):
        return "gradients are needed, but the kernels compute only the forward pass"
    if q.is_nested or has_torch_function((q, k, v)):
        return "the tensors are not plain tensors"
    return _misfit(q, k, v, enable_gqa, has_pages)


def _cast(*tensors):
    """Casts the operands of scaled_dot_product_attention as torch.autocast does."""
    dtype = torch.get_autocast_dtype("cuda")
    return tuple(tensor.to(dtype) for tensor in tensors)


def operator_call(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False):
    """Returns why the operators are not called, or None, and their arguments. The parameters are those of
    scaled_dot_product_attention."""
    if attn_mask is not None:
        reason = "attn_mask is given"
    else:
        reason = tensors_refusal(query, key, value, dropout_p, enable_gqa)
    if reason is None and is_causal and query.size(2) != key.size(2):
        reason = "is_causal of scaled_dot_product_attention aligns the first query with the first key"
    if reason is None and torch.is_autocast_enabled():  # for CUDA
        query, key, value = _cast(query, key, value)
    return reason, (query, key, value, is_causal, 0, scale, _operators.untuned_is_allowed)


@recorded
def scaled_dot_product_attention(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None,
                                 enable_gqa=False):
    """torch.nn.functional.scaled_dot_product_attention. The result has query's memory layout; errors are PyTorch's.

    The kernels compute the forward pass. PyTorch's own attention is used, with one warning for each reason, where
    gradients are needed, with attn_mask or dropout, wherever else no kernel is eligible, and for calls that no tuned
    problem is like, unless allow_untuned() was called.
    """
    reason, call = operator_call(query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa)
    if reason is None:
        return forward(*call)
    o = pytorch_attention(query, key, value, attn_mask, dropout_p, is_causal, scale=scale, enable_gqa=enable_gqa)
    warn_once(reason)
    return o

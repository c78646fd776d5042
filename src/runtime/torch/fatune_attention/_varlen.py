"""flash-attn's flash_attn_varlen_func, computed by a tuned kernel where one is eligible."""
import torch

from . import _operators
from ._fallback import from_pages, packed, warn_once
from ._flash import as_sinks, by_pytorch, kernel_mask
from ._kvcache import flash_attn_with_kvcache
from ._operators import forward, forward_lse
from ._sdpa import tensors_refusal


def _check_starts(starts, q, name):
    if starts.dtype != torch.int32 or starts.device != q.device or starts.dim() != 1 or starts.size(0) < 2:
        raise ValueError(f"flash_attn_varlen_func: {name} must be int32 on {q.device}, with an element for each sequence "
                         f"and one more, not {starts.dtype} on {starts.device} of the shape {tuple(starts.shape)}")


def _as_one_batch(tensor):
    """Returns packed rows (rows, heads, d) as the operators take them."""
    return tensor.transpose(0, 1).unsqueeze(0)


def operator_call(q, k, v, cu_seqlens_q, cu_seqlens_k, max_seqlen_q, max_seqlen_k, dropout_p=0.0, softmax_scale=None,
                  causal=False, window_size=(-1, -1), softcap=0.0, alibi_slopes=None, deterministic=False,
                  return_attn_probs=False, block_table=None, learnable_sink=None):
    """Returns why the operators are not called, or None, and their arguments. The parameters are those of
    flash_attn_varlen_func."""
    _check_starts(cu_seqlens_q, q, "cu_seqlens_q")
    _check_starts(cu_seqlens_k, q, "cu_seqlens_k")
    mask = kernel_mask(causal, window_size)
    operands = (_as_one_batch(q), *((k, v) if block_table is not None else map(_as_one_batch, (k, v))))
    if alibi_slopes is not None:
        reason = "alibi_slopes are given"
    elif mask is None:
        reason = "the kernels have no mask for this window_size"
    elif block_table is not None:
        reason = "the kernels take pages only where every sequence has one query"
    else:
        reason = tensors_refusal(*operands, dropout_p, True)
    return reason, (*operands, *(mask or (False, 0)), softmax_scale, _operators.untuned_is_allowed, None, softcap,
                    as_sinks(learnable_sink), None, cu_seqlens_q.contiguous(), cu_seqlens_k.contiguous(), max_seqlen_q,
                    max_seqlen_k)


def _by_pytorch(q, k, v, cu_seqlens_q, cu_seqlens_k, block_table, options):
    """Computes each sequence by itself, from operands as operator_call() returns them."""
    if block_table is not None:
        lengths = cu_seqlens_k.diff().tolist()
        k, v = from_pages(block_table, k.transpose(1, 2), v.transpose(1, 2))
        k, v = (torch.cat([one[i:i + 1, :, :length] for i, length in enumerate(lengths)], 2) for one in (k, v))
    return packed(lambda *one: by_pytorch(*one, *options), q, k, v, cu_seqlens_q, cu_seqlens_k)


def flash_attn_varlen_func(q, k, v, cu_seqlens_q, cu_seqlens_k, max_seqlen_q, max_seqlen_k, dropout_p=0.0,
                           softmax_scale=None, causal=False, window_size=(-1, -1), softcap=0.0, alibi_slopes=None,
                           deterministic=False, return_attn_probs=False, block_table=None, learnable_sink=None):
    """flash_attn.flash_attn_varlen_func. q is (queries of all sequences, heads, d), and so is the result; k and v are
    (keys of all sequences, kv_heads, d).

    `cu_seqlens_q` and `cu_seqlens_k`, int32 on the GPU, have the first row of each sequence, and behind them the number
    of rows. A kernel reads them on the GPU, so a captured CUDA graph computes with what they hold at the replay. No
    sequence may be longer than `max_seqlen_q` and `max_seqlen_k`. The last query of a sequence is aligned with its last
    key.

    With `block_table`, k and v are pools of pages as in flash_attn_with_kvcache, which computes the call if every
    sequence has one query. PyTorch's own attention is used as in flash_attn_func; it computes one sequence after the
    other, and reads the lengths on the host. With `return_attn_probs` the result is (o, log-sum-exps (heads, queries of
    all sequences), None).
    """
    if block_table is not None and max_seqlen_q == 1 and q.size(0) == cu_seqlens_q.size(0) - 1:
        if dropout_p != 0.0 or alibi_slopes is not None:
            raise NotImplementedError("flash_attn_varlen_func: dropout_p or alibi_slopes with block_table")
        result = flash_attn_with_kvcache(q.unsqueeze(1), k, v, cache_seqlens=cu_seqlens_k.diff(),
                                         block_table=block_table, softmax_scale=softmax_scale, causal=causal,
                                         window_size=window_size, softcap=softcap, learnable_sink=learnable_sink,
                                         return_softmax_lse=return_attn_probs)
        return (result[0].squeeze(1), result[1].squeeze(2).T, None) if return_attn_probs else result.squeeze(1)
    reason, call = operator_call(q, k, v, cu_seqlens_q, cu_seqlens_k, max_seqlen_q, max_seqlen_k, dropout_p,
                                 softmax_scale, causal, window_size, softcap, alibi_slopes, block_table=block_table,
                                 learnable_sink=learnable_sink)
    if reason is not None and (return_attn_probs or softcap != 0.0 or learnable_sink is not None):
        raise NotImplementedError(f"flash_attn_varlen_func: {reason}")
    if return_attn_probs:
        o, lse = forward_lse(*call)
        return o.squeeze(0).transpose(0, 1), lse.squeeze(0), None
    if reason is None:
        return forward(*call).squeeze(0).transpose(0, 1)
    o = _by_pytorch(*call[:3], cu_seqlens_q, cu_seqlens_k, block_table,
                    (dropout_p, softmax_scale, causal, window_size, alibi_slopes))
    warn_once(reason)
    return o.squeeze(0).transpose(0, 1).contiguous()

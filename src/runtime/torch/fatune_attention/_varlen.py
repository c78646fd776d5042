"""flash-attn's flash_attn_varlen_func, computed by a tuned kernel where one is eligible."""
import torch

from . import _kvcache, _operators
from ._descale import as_scales
from ._fallback import packed, plain_operands, warn_once
from ._flash import as_sinks, by_pytorch, kernel_mask
from ._kvcache import check_array, flash_attn_with_kvcache
from ._operators import forward, forward_lse
from ._record import recorded
from ._sdpa import tensors_refusal

_NAME = "flash_attn_varlen_func"


def _check_starts(starts, q, name):
    if starts.dtype != torch.int32 or starts.device != q.device or starts.dim() != 1 or starts.size(0) < 2:
        raise ValueError(f"{_NAME}: {name} must be int32 on {q.device}, with an element for each sequence and one more, "
                         f"not {starts.dtype} on {starts.device} of the shape {tuple(starts.shape)}")


def _check_arrays(q, cu_seqlens_q, cu_seqlens_k, seqused_k, block_table):
    _check_starts(cu_seqlens_q, q, "cu_seqlens_q")
    if block_table is None and seqused_k is not None:
        raise NotImplementedError(f"{_NAME}: seqused_k without block_table")
    if (cu_seqlens_k is None) == (seqused_k is None):
        raise ValueError(f"{_NAME}: " + ("cu_seqlens_k must be given without block_table" if block_table is None else
                                         "with block_table, either seqused_k or cu_seqlens_k must be given"))
    sequences = cu_seqlens_q.size(0) - 1
    if seqused_k is not None:
        check_array(seqused_k, q, sequences, 1, "seqused_k", "length", _NAME)
    else:
        _check_starts(cu_seqlens_k, q, "cu_seqlens_k")
        if cu_seqlens_k.size(0) != sequences + 1:
            raise ValueError(f"{_NAME}: cu_seqlens_q has {sequences} sequences, and cu_seqlens_k {cu_seqlens_k.size(0) - 1}")
    if block_table is not None:
        check_array(block_table, q, sequences, 2, "block_table", "row", _NAME)


def _as_one_batch(tensor):
    """Returns packed rows (rows, heads, d) as the operators take them."""
    return tensor.transpose(0, 1).unsqueeze(0)


def _of_one_batch(descale, keys):
    """Returns the scales of packed keys (rows, kv_heads, d) as those of one batch, if they are (rows, kv_heads)."""
    is_of_keys = descale is not None and descale.shape == keys.shape[:2] and keys.size(0) > 1 and descale.stride(0) > 0
    return descale[None] if is_of_keys else descale


def _prepare(q, k, v, cu_seqlens_q, cu_seqlens_k=None, max_seqlen_q=None, max_seqlen_k=None, dropout_p=0.0,
             softmax_scale=None, causal=False, window_size=(-1, -1), softcap=0.0, alibi_slopes=None, deterministic=False,
             return_attn_probs=False, block_table=None, learnable_sink=None, seqused_k=None, k_descale=None,
             v_descale=None):
    """Returns the arguments of flash_attn_with_kvcache if it computes the call, or None; else why the operators are not
    called, or None, and their arguments. The parameters are those of flash_attn_varlen_func."""
    if max_seqlen_q is None or max_seqlen_k is None:
        raise ValueError(f"{_NAME}: max_seqlen_q and max_seqlen_k must be given")
    _check_arrays(q, cu_seqlens_q, cu_seqlens_k, seqused_k, block_table)
    has_pages = block_table is not None
    if (has_pages and max_seqlen_q == 1 and q.size(0) == cu_seqlens_q.size(0) - 1 and dropout_p == 0.0
            and alibi_slopes is None):
        lengths = cu_seqlens_k.diff() if seqused_k is None else seqused_k
        return dict(q=q.unsqueeze(1), k_cache=k, v_cache=v, cache_seqlens=lengths, block_table=block_table,
                    softmax_scale=softmax_scale, causal=causal, window_size=window_size, softcap=softcap,
                    learnable_sink=learnable_sink, k_descale=k_descale, v_descale=v_descale), None, ()
    if seqused_k is not None:
        cu_seqlens_k = torch.nn.functional.pad(seqused_k.cumsum(0, dtype=torch.int32), (1, 0))
    mask = kernel_mask(causal, window_size)
    keys = (k.transpose(1, 2), v.transpose(1, 2)) if has_pages else map(_as_one_batch, (k, v))
    operands = (_as_one_batch(q), *keys)
    scales = as_scales(*operands[1:], *(one if has_pages else _of_one_batch(one, k) for one in (k_descale, v_descale)),
                       has_pages)
    if alibi_slopes is not None:
        reason = "alibi_slopes are given"
    elif mask is None:
        reason = "the kernels have no mask for this window_size"
    else:
        reason = tensors_refusal(*operands, dropout_p, True, has_pages)
    return None, reason, (*operands, *(mask or (False, 0)), softmax_scale, _operators.untuned_is_allowed, None, softcap,
                          as_sinks(learnable_sink), block_table.contiguous() if has_pages else None,
                          cu_seqlens_q.contiguous(), cu_seqlens_k.contiguous(), max_seqlen_q, max_seqlen_k, *scales)


def operator_call(*arguments, **options):
    """Returns why the operators are not called, or None, and their arguments. The parameters are those of
    flash_attn_varlen_func."""
    decoding, reason, call = _prepare(*arguments, **options)
    return (reason, call) if decoding is None else _kvcache.operator_call(**decoding)


def _by_pytorch(call, *options):
    """Computes each sequence of an operator's call by itself."""
    return packed(lambda *one: by_pytorch(*one, *options), *plain_operands(*call), *call[11:13])


@recorded
def flash_attn_varlen_func(q, k, v, cu_seqlens_q, cu_seqlens_k=None, max_seqlen_q=None, max_seqlen_k=None, dropout_p=0.0,
                           softmax_scale=None, causal=False, window_size=(-1, -1), softcap=0.0, alibi_slopes=None,
                           deterministic=False, return_attn_probs=False, block_table=None, learnable_sink=None,
                           seqused_k=None, k_descale=None, v_descale=None):
    """flash_attn.flash_attn_varlen_func. q is (queries of all sequences, heads, d), and so is the result; k and v are
    (keys of all sequences, kv_heads, d).

    `cu_seqlens_q` and `cu_seqlens_k`, int32 on the GPU, have the first row of each sequence, and behind them the number
    of rows. A kernel reads them on the GPU, so a captured CUDA graph computes with what they hold at the replay. No
    sequence may be longer than `max_seqlen_q` and `max_seqlen_k`, which must be given. The last query of a sequence is
    aligned with its last key.

    With `block_table`, k and v are pools of pages as in flash_attn_with_kvcache, which computes the call if every
    sequence has one query. `seqused_k` (sequences), int32 on the GPU, then says how many keys each sequence has, and
    `cu_seqlens_k` is None; or `cu_seqlens_k` has the sums of these numbers.

    k and v may have 8 bits, with `k_descale` and `v_descale` as in flash_attn_func; those of keys are (keys of all
    sequences, kv_heads), and those of pools as in flash_attn_with_kvcache.

    PyTorch's own attention is used as in flash_attn_func; it computes one sequence after the other, and reads the
    lengths on the host. With `return_attn_probs` the result is (o, log-sum-exps (heads, queries of all sequences), None).
    """
    decoding, reason, call = _prepare(q, k, v, cu_seqlens_q, cu_seqlens_k, max_seqlen_q, max_seqlen_k, dropout_p,
                                      softmax_scale, causal, window_size, softcap, alibi_slopes, block_table=block_table,
                                      learnable_sink=learnable_sink, seqused_k=seqused_k, k_descale=k_descale,
                                      v_descale=v_descale)
    if decoding is not None:
        result = flash_attn_with_kvcache(**decoding, return_softmax_lse=return_attn_probs)
        return (result[0].squeeze(1), result[1].squeeze(2).T, None) if return_attn_probs else result.squeeze(1)
    if reason is not None and (return_attn_probs or softcap != 0.0 or learnable_sink is not None):
        raise NotImplementedError(f"{_NAME}: {reason}")
    if return_attn_probs:
        o, lse = forward_lse(*call)
        return o.squeeze(0).transpose(0, 1), lse.squeeze(0), None
    if reason is None:
        return forward(*call).squeeze(0).transpose(0, 1)
    o = _by_pytorch(call, dropout_p, softmax_scale, causal, window_size, alibi_slopes)
    warn_once(reason)
    return o.squeeze(0).transpose(0, 1).contiguous()

"""flash-attn's flash_attn_with_kvcache, computed by a tuned kernel where one is eligible."""
import torch

from . import _operators
from ._descale import as_scales
from ._fallback import plain_operands, warn_once
from ._flash import as_sinks, by_pytorch, kernel_mask
from ._operators import forward, forward_lse
from ._record import recorded
from ._sdpa import tensors_refusal


def _refuse_unsupported(**given):
    """Raises NotImplementedError for arguments of flash-attn's function that change what nothing here computes."""
    for name, value in given.items():
        if value is not None:
            raise NotImplementedError(
                f"flash_attn_with_kvcache: {name} is not supported: leave it at its default. Keys and values of new "
                "positions must be in the cache, rotated, before the call")


def check_array(array, q, sequences, dimensions, name, row, function="flash_attn_with_kvcache"):
    if array.dtype != torch.int32 or array.device != q.device:
        raise ValueError(f"{function}: {name} must be int32 on {q.device}, not {array.dtype} on {array.device}")
    if array.dim() != dimensions or array.size(0) != sequences:
        raise ValueError(f"{function}: {name} must have a {row} for each of the {sequences} sequences, "
                         f"not the shape {tuple(array.shape)}")


def _check_room(length, room):
    if not 0 <= length <= room:
        raise ValueError(f"flash_attn_with_kvcache: cache_seqlens is {length}, but the cache has room for {room} keys")


def _cached(q, k_cache, v_cache, cache_seqlens, block_table):
    """Returns the keys and values that count, and the lengths of sequences if they are in a tensor. Its values are
    never read here, so that a CUDA graph takes what it holds at the replay."""
    if cache_seqlens is None:
        return k_cache, v_cache, None
    if isinstance(cache_seqlens, torch.Tensor):
        check_array(cache_seqlens, q, q.size(0), 1, "cache_seqlens", "length")
        return k_cache, v_cache, cache_seqlens
    if block_table is not None:
        _check_room(cache_seqlens, block_table.size(1) * k_cache.size(1))
        return k_cache, v_cache, torch.full((q.size(0),), cache_seqlens, dtype=torch.int32, device=q.device)
    _check_room(cache_seqlens, k_cache.size(1))
    return k_cache[:, :cache_seqlens], v_cache[:, :cache_seqlens], None


def _cut(descale, keys):
    """Returns the scales of the keys (batch, keys, kv_heads, d) that count, if keys have scales of their own."""
    return descale if descale is None or descale.dim() != 3 else descale[:, :keys.size(1)]


def operator_call(q, k_cache, v_cache, *, cache_seqlens=None, softmax_scale=None, causal=False, window_size=(-1, -1),
                  softcap=0.0, return_softmax_lse=False, learnable_sink=None, block_table=None, k_descale=None,
                  v_descale=None):
    """Returns why the operators are not called, or None, and their arguments. The parameters are those of
    flash_attn_with_kvcache that it computes."""
    mask = kernel_mask(causal, window_size)
    if block_table is not None:
        check_array(block_table, q, q.size(0), 2, "block_table", "row")
        block_table = block_table.contiguous()
    keys, values, lengths = _cached(q, k_cache, v_cache, cache_seqlens, block_table)
    operands = (q.transpose(1, 2), keys.transpose(1, 2), values.transpose(1, 2))
    scales = as_scales(*operands[1:], _cut(k_descale, keys), _cut(v_descale, keys), block_table is not None)
    if mask is None:
        reason = "the kernels have no mask for this window_size"
    else:
        reason = tensors_refusal(*operands, 0.0, True, block_table is not None)
    return reason, (*operands, *(mask or (False, 0)), softmax_scale, _operators.untuned_is_allowed, lengths,
                    softcap, as_sinks(learnable_sink), block_table, None, None, 0, 0, *scales)


@recorded
def flash_attn_with_kvcache(q, k_cache, v_cache, k=None, v=None, rotary_cos=None, rotary_sin=None, cache_seqlens=None,
                            cache_batch_idx=None, cache_leftpad=None, block_table=None, softmax_scale=None,
                            causal=False, window_size=(-1, -1), softcap=0.0, rotary_interleaved=True,
                            alibi_slopes=None, num_splits=0, return_softmax_lse=False, learnable_sink=None,
                            k_descale=None, v_descale=None):
    """flash_attn.flash_attn_with_kvcache. q is (batch, queries, heads, d), and so is the result; the caches are
    (batch, keys, kv_heads, d). With `block_table` (batch, pages of a sequence), int32 on the GPU, they are pools (pages,
    keys of a page, kv_heads, d), and keys [i * n, (i + 1) * n) of a sequence, where n is the keys of a page, are in the
    page that entry i of its row names. Entries behind the last key may be anything.

    `cache_seqlens` says how many keys of the cache count: all, if it is None; an int, for all sequences; or a tensor
    (batch) of int32 on the GPU, one for each sequence. The host never reads the tensor, so a captured CUDA graph
    computes with what it holds at the replay. No length may exceed the cache; nothing checks this. The last query is
    aligned with the last key that counts. What lies behind it has no influence, not even NaN.

    With `return_softmax_lse` the result is (o, log-sum-exps (batch, heads, queries)). A kernel is used, or PyTorch's
    own attention, as in flash_attn_func, which also describes `softcap` and `learnable_sink`, and caches of 8 bits with
    `k_descale` and `v_descale`. Those of pools are also (pages, kv_heads), or (pages, keys of a page, kv_heads).
    Arguments for appending keys, rotating, alibi_slopes and num_splits raise NotImplementedError unless they have their
    defaults.
    """
    _refuse_unsupported(k=k, v=v, rotary_cos=rotary_cos, rotary_sin=rotary_sin, cache_batch_idx=cache_batch_idx,
                        cache_leftpad=cache_leftpad,
                        rotary_interleaved=None if rotary_interleaved else False, alibi_slopes=alibi_slopes,
                        num_splits=num_splits or None)
    reason, call = operator_call(q, k_cache, v_cache, cache_seqlens=cache_seqlens, softmax_scale=softmax_scale,
                                 causal=causal, window_size=window_size, softcap=softcap,
                                 learnable_sink=learnable_sink, block_table=block_table, k_descale=k_descale,
                                 v_descale=v_descale)
    if reason is None and return_softmax_lse:
        o, lse = forward_lse(*call)
        return o.transpose(1, 2), lse
    if reason is None:
        return forward(*call).transpose(1, 2)
    if return_softmax_lse or softcap != 0.0 or learnable_sink is not None:
        raise NotImplementedError(f"flash_attn_with_kvcache: return_softmax_lse, softcap or learnable_sink, but {reason}")
    o = by_pytorch(*plain_operands(*call), 0.0, softmax_scale, causal, window_size, lengths=call[7])
    warn_once(reason)
    return o.transpose(1, 2).contiguous()

"""flash-attn's flash_attn_func, computed by a tuned kernel where one is eligible."""
import torch

from . import _operators
from ._descale import as_scales
from ._fallback import masked_attention, plain_operands, visible_keys, warn_once, without_rest
from ._operators import forward, forward_lse
from ._record import kernel_mask, recorded
from ._sdpa import tensors_refusal


def as_sinks(learnable_sink):
    """Returns sinks as the operators take them."""
    return None if learnable_sink is None else learnable_sink.float().contiguous()


def operator_call(q, k, v, dropout_p=0.0, softmax_scale=None, causal=False, window_size=(-1, -1), softcap=0.0,
                  alibi_slopes=None, deterministic=False, return_attn_probs=False, learnable_sink=None, k_descale=None,
                  v_descale=None):
    """Returns why the operators are not called, or None, and their arguments. The parameters are flash_attn_func's."""
    mask = kernel_mask(causal, window_size)
    operands = (q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2))
    if alibi_slopes is not None:
        reason = "alibi_slopes are given"
    elif mask is None:
        reason = "the kernels have no mask for this window_size"
    else:
        reason = tensors_refusal(*operands, dropout_p, True)
    return reason, (*operands, *(mask or (False, 0)), softmax_scale, _operators.untuned_is_allowed, None, softcap,
                    as_sinks(learnable_sink), None, None, None, 0, 0,
                    *as_scales(*operands[1:], k_descale, v_descale))


def _alibi(slopes, rows, keys):
    """Returns the bias of the scores: (batch or 1, heads, rows, keys)."""
    position = torch.arange(rows, device=slopes.device)[:, None] + (keys - rows)
    distance = (torch.arange(keys, device=slopes.device)[None, :] - position).abs()
    return -slopes.reshape(-1, slopes.size(-1), 1, 1) * distance


def by_pytorch(q, k, v, dropout_p, scale, causal, window_size, alibi_slopes=None, lengths=None):
    """Computes attention of tensors (batch, heads, rows, d) with flash-attn's masks. `lengths` are those of the
    sequences' keys, if they differ."""
    left, right = (None if one < 0 else one for one in window_size)
    rows, keys = q.size(2), k.size(2)
    mask = visible_keys(rows, keys, left, 0 if causal else right, q.device, lengths)
    k, v = (k, v) if lengths is None else without_rest(lengths, k, v)
    bias = None if alibi_slopes is None else _alibi(alibi_slopes, rows, keys)
    return masked_attention(q, k, v, mask, scale, bias, dropout_p)


@recorded
def flash_attn_func(q, k, v, dropout_p=0.0, softmax_scale=None, causal=False, window_size=(-1, -1), softcap=0.0,
                    alibi_slopes=None, deterministic=False, return_attn_probs=False, learnable_sink=None, k_descale=None,
                    v_descale=None):
    """flash_attn.flash_attn_func. Tensors are (batch, rows, heads, d), and so is the result.

    The last query is aligned with the last key. The kernels compute the forward pass. PyTorch's own attention is used,
    with one warning for each reason, where gradients are needed, with dropout, with alibi_slopes, wherever else no
    kernel is eligible, and for calls that no tuned problem is like, unless allow_untuned() was called. `learnable_sink`
    (heads), as FlashAttention-4 has it, is a score of each head that counts in the denominator of softmax alone; float32
    needs no conversion. With `return_attn_probs` the result is (o, log-sum-exps, None). `return_attn_probs`, a softcap
    and sinks raise NotImplementedError where no operator computes them. `deterministic` is about the backward pass and
    changes nothing.

    k and v may be float8_e4m3fn or float8_e5m2. What they hold is then multiplied by `k_descale` and `v_descale`, float32
    on the GPU, which must be given: one for all (1), one for each head (kv_heads), or one for each head of a key (batch,
    keys, kv_heads). (batch, kv_heads), as FlashAttention-3 has it, may be an expanded one of the first two.
    """
    reason, call = operator_call(q, k, v, dropout_p, softmax_scale, causal, window_size, softcap, alibi_slopes,
                                 learnable_sink=learnable_sink, k_descale=k_descale, v_descale=v_descale)
    if reason is not None and (return_attn_probs or softcap != 0.0 or learnable_sink is not None):
        raise NotImplementedError(f"flash_attn_func: {reason}")
    if return_attn_probs:
        o, lse = forward_lse(*call)
        return o.transpose(1, 2), lse, None
    if reason is None:
        return forward(*call).transpose(1, 2)
    o = by_pytorch(*plain_operands(*call), dropout_p, softmax_scale, causal, window_size, alibi_slopes)
    warn_once(reason)
    return o.transpose(1, 2).contiguous()

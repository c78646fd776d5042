"""FlashAttention-3's functions as the package fa3-fwd has it, which let time pass in the fake PyTorch."""
import torch


def _checked(q, softmax_scale, causal, num_splits):
    assert q.dtype == torch.bfloat16 and softmax_scale > 0 and isinstance(causal, bool) and num_splits == 0
    torch.pass_time(0.08)


def flash_attn_func(q, k, v, softmax_scale=None, causal=False, num_splits=1, softcap=0.0):
    assert k.shape[:3] == v.shape[:3] and q.shape[2] % k.shape[2] == 0, "positions come before heads"
    assert softcap >= 0
    _checked(q, softmax_scale, causal, num_splits)
    return torch.empty((*q.shape[:3], v.shape[3]), dtype=q.dtype)


def flash_attn_varlen_func(q, k, v, cu_seqlens_q, cu_seqlens_k, max_seqlen_q, max_seqlen_k, softmax_scale=None,
                           causal=False, num_splits=1):
    _checked(q, softmax_scale, causal, num_splits)
    return torch.check_packed(q, k, v, cu_seqlens_q, cu_seqlens_k, max_seqlen_q, max_seqlen_k)


def flash_attn_with_kvcache(q, k, v, cache_seqlens, softmax_scale=None, causal=False, num_splits=1):
    assert cache_seqlens.dtype == torch.int32 and cache_seqlens.shape == q.shape[:1]
    assert max(cache_seqlens.values) <= k.shape[1]
    return flash_attn_func(q, k, v, softmax_scale, causal, num_splits)

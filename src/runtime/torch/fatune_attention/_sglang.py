"""A hook of SGLang: its FlashAttention backend's attention is the package's where a tuned kernel computes it."""
from ._serving import attention

# SGLang's function, which has flash-attn's parameters and is called by their names.
FUNCTION = "sglang.kernels.ops.attention.flash_attention.flash_attn_with_kvcache"
_NEEDED = {"q", "k_cache", "v_cache", "page_table", "cache_seqlens", "cu_seqlens_q", "max_seqlen_q"}
_TOLD = _NEEDED | {"softmax_scale", "causal", "window_size", "softcap", "sinks", "out", "max_seqlen_k"}
_HOW = {"cu_seqlens_k_new", "num_splits", "scheduler_metadata", "ver"}  # how FlashAttention computes, or about new keys
_ONE_SPLIT = 1  # asks for results that do not depend on the batch


def _suits(options):
    """Whether the package's function can be told of the call: pages, and no argument that it does not know."""
    given = {name for name, value in options.items() if value is not None and value is not False}
    return (_NEEDED <= given and given - _TOLD <= _HOW and options.get("num_splits") != _ONE_SPLIT
            and isinstance(options["max_seqlen_q"], int) and options["q"].dim() == 3
            and options["k_cache"].dtype == options["q"].dtype)


def _told(q, k_cache, v_cache, page_table, cache_seqlens, cu_seqlens_q, max_seqlen_q, softmax_scale=None, causal=False,
          window_size=(-1, -1), softcap=0.0, sinks=None, max_seqlen_k=None, **_):
    """Returns the arguments as flash_attn_varlen_func has them."""
    return dict(q=q, k=k_cache, v=v_cache, cu_seqlens_q=cu_seqlens_q, seqused_k=cache_seqlens, max_seqlen_q=max_seqlen_q,
                max_seqlen_k=max_seqlen_k or page_table.size(1) * k_cache.size(1), block_table=page_table,
                softmax_scale=softmax_scale, causal=causal, window_size=window_size, softcap=softcap or 0.0,
                learnable_sink=sinks)


def around_attention(own, *arguments, **options):
    """Computes a call of FUNCTION, of which `own` is the original."""
    if arguments or not _suits(options):
        return own(*arguments, **options)
    return attention("SGLang", lambda: own(**options), options.get("out"), **_told(**options))

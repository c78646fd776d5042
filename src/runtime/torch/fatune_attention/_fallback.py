"""PyTorch's own attention, where no kernel is eligible, and the warning that it is used."""
import warnings

import torch
from torch.nn.functional import scaled_dot_product_attention

from ._descale import of_rows

_reasons = set()


def warn_once(reason, kind="", used="PyTorch's own attention"):
    """Warns once for each kind of reason; a reason without a kind is one of its own."""
    if (kind or reason) not in _reasons:
        _reasons.add(kind or reason)
        warnings.warn(f"{__package__}: {reason}; {used} is used", stacklevel=4)


# Sets what torch.compiler.assume_constant_result() would set, without importing the compiler (2 s). The warning comes
# when a function is compiled, and does not break its graph.
warn_once._dynamo_marked_constant = True


def empty_output(q, v):
    """An empty tensor for O: dense, with its dimensions in q's order in memory. The C++ operators do the same."""
    sizes = [*q.shape[:3], v.shape[3]]
    strides = [0, 0, 0, 1]
    stride = sizes[3]
    for dimension in reversed(sorted(range(3), key=lambda one: -q.stride(one))):
        strides[dimension] = stride
        stride = stride * sizes[dimension]
    return q.new_empty_strided(sizes, strides)


def visible_keys(rows, keys, left, right, device, lengths=None):
    """Returns a mask (rows, keys), or with the lengths of sequences (batch, 1, rows, keys). The last query is aligned
    with the last key of its sequence. A query sees `left` keys before itself and `right` after; None: all."""
    end = keys if lengths is None else lengths.reshape(-1, 1, 1, 1)
    key = torch.arange(keys, device=device)
    distance = key - (torch.arange(rows, device=device)[:, None] + (end - rows))
    seen = (key < end).expand_as(distance)
    if left is not None:
        seen = seen & (distance >= -left)
    if right is not None:
        seen = seen & (distance <= right)
    return seen


def without_rest(lengths, *tensors):
    """Returns the tensors (batch, heads, keys, d) with zeros behind each sequence's last key, where there may be
    anything: even a weight of 0 makes NaN of a NaN."""
    key = torch.arange(tensors[0].size(2), device=lengths.device)[:, None]
    return [tensor.masked_fill(key >= lengths.reshape(-1, 1, 1, 1), 0.0) for tensor in tensors]


def masked_attention(q, k, v, mask, scale, bias=None, dropout_p=0.0):
    """Computes attention with a mask. Rows of O whose queries see no key are 0. `bias` is added to the scores."""
    full = mask if bias is None else bias.to(q.dtype).masked_fill(~mask, float("-inf"))
    o = scaled_dot_product_attention(q, k, v, full, dropout_p, scale=scale, enable_gqa=q.size(1) != k.size(1))
    return o.masked_fill(~mask.any(-1, keepdim=True), 0.0)


def _factor(q, scale):
    return q.size(3) ** -0.5 if scale is None else scale


def _range(causal, window):
    """Returns how many keys a query sees before and after itself."""
    left = window - 1 if window > 0 else None
    return left, 0 if causal else left


def _scores(q, k, mask, scale, softcap):
    """Returns the scores of one sequence (heads, rows, d) as float32; minus infinity where a key is not seen."""
    k = k.repeat_interleave(q.size(0) // k.size(0), 0)
    scores = (q.float() @ k.float().mT) * scale
    scores = torch.tanh(scores / softcap) * softcap if softcap else scores
    return scores.masked_fill(~mask, float("-inf"))


def _lse_of_sequence(q, k, mask, scale, softcap, sinks):
    """Returns the log-sum-exps of one sequence (heads, rows, d)."""
    lse = _scores(q, k, mask, scale, softcap).logsumexp(-1)
    return lse if sinks is None else torch.logaddexp(lse, sinks[:, None])


def _for_each_sequence(function, q, k, mask, *more):
    """Returns function(q, k, mask, *more) of each sequence, stacked. `more` are tensors with a batch dimension."""
    masks = mask.expand(q.size(0), 1, *mask.shape[-2:])
    return torch.stack([function(*one) for one in zip(q, k, masks, *more)])


def _attention_by_scores(q, k, v, mask, scale, softcap, sinks):
    """Computes what PyTorch's own attention has no argument for: a softcap, and sinks."""
    def of_sequence(q, k, mask, v):
        weights = _scores(q, k, mask, scale, softcap) - _lse_of_sequence(q, k, mask, scale, softcap, sinks)[..., None]
        v = v.repeat_interleave(q.size(0) // v.size(0), 0)
        return weights.exp().nan_to_num(0.0).to(v.dtype) @ v  # a row without keys is 0

    return _for_each_sequence(of_sequence, q, k, mask, v)


def attention_by_scores(q, k, v, mask, scale, softcap, sinks):
    """Computes attention of tensors (batch, heads, rows, d) with a softcap or sinks. `mask` says which keys are seen, or
    is added to the scores: then keys with less than half of the least value are not seen."""
    seen = mask if mask.dtype == torch.bool else mask > torch.finfo(mask.dtype).min / 2
    return _attention_by_scores(q, k, v, seen[..., :k.size(2)], _factor(q, scale), softcap or 0.0, sinks)


def attention_of_tensors(q, k, v, causal, window, scale, lengths=None, softcap=0.0, sinks=None):
    """Computes attention of tensors (batch, heads, rows, d), whose last query is at the last key."""
    rows, keys = q.size(2), k.size(2)
    if softcap or sinks is not None:
        mask = visible_keys(rows, keys, *_range(causal, window), q.device, lengths)
        k, v = (k, v) if lengths is None else without_rest(lengths, k, v)
        return _attention_by_scores(q, k, v, mask, _factor(q, scale), softcap, sinks)
    causal = causal and rows > 1  # a single query is at the last key
    if window > 0 or (causal and rows != keys) or lengths is not None:
        mask = visible_keys(rows, keys, *_range(causal, window), q.device, lengths)
        k, v = (k, v) if lengths is None else without_rest(lengths, k, v)
        return masked_attention(q, k, v, mask, scale)
    return scaled_dot_product_attention(q, k, v, is_causal=causal, scale=scale, enable_gqa=q.size(1) != k.size(1))


def from_pages(page_table, *pools):
    """Returns pools (pages, heads, keys of a page, d) as tensors (batch, heads, keys, d). Entries of the table that name
    no page, behind a sequence's last key, become any page."""
    return [pool[page_table.long().clamp(0, pool.size(0) - 1)].transpose(1, 2).flatten(2, 3) for pool in pools]


def packed_from_pages(page_table, starts, *pools):
    """Returns pools as from_pages() does, but one sequence after the other in one batch. `starts` has the sums of their
    numbers of keys. Waits for the GPU, and copies no other pages."""
    page_size = max(1, pools[0].size(2))
    lengths, room = starts.diff().tolist(), page_table.size(1) * page_size
    if max(lengths, default=0) > room:
        raise ValueError(f"a sequence has {max(lengths)} keys, and its row of block_table room for {room}")
    parts = [[keys[:, :, :length] for keys in from_pages(page_table[i:i + 1, :-(-length // page_size)], *pools)]
             for i, length in enumerate(lengths)]
    return [torch.cat(of_pool, 2) for of_pool in zip(*parts)]


def _without_pages(page_table, cu_seqlens_kv, *pools):
    if page_table is None:
        return pools
    return from_pages(page_table, *pools) if cu_seqlens_kv is None else \
        packed_from_pages(page_table, cu_seqlens_kv, *pools)


def _plain(dtype, k, v, page_table, cu_seqlens_kv, k_descale, v_descale):
    """Returns K and V in this type, without pages and scales. Only pages of the sequences are converted."""
    if k_descale is None:
        return _without_pages(page_table, cu_seqlens_kv, k, v)
    pools = (k.view(torch.uint8), of_rows(k_descale, k), v.view(torch.uint8), of_rows(v_descale, v))
    keys, k_scales, values, v_scales = _without_pages(page_table, cu_seqlens_kv, *pools)
    return ((keys.view(k.dtype).float() * k_scales).to(dtype), (values.view(v.dtype).float() * v_scales).to(dtype))


def plain_operands(q, k, v, causal=False, window=0, scale=None, allow_untuned=False, seq_lens_kv=None, softcap=0.0,
                   sinks=None, page_table=None, cu_seqlens_q=None, cu_seqlens_kv=None, max_seqlen_q=0, max_seqlen_kv=0,
                   k_descale=None, v_descale=None):
    """Returns q, k and v of an operator's call, in the type of q and without pages."""
    return q, *_plain(q.dtype, k, v, page_table, cu_seqlens_kv, k_descale, v_descale)


def _sequences(starts):
    """Returns the first row of each sequence, and the row behind its last. Waits for the GPU."""
    starts = starts.tolist()
    return zip(starts, starts[1:])


def _lse(q, k, causal, window, scale, lengths, softcap, sinks):
    mask = visible_keys(q.size(2), k.size(2), *_range(causal, window), q.device, lengths)
    return _for_each_sequence(lambda *one: _lse_of_sequence(*one, _factor(q, scale), softcap, sinks), q, k, mask)


def packed(function, q, k, v, cu_seqlens_q, cu_seqlens_kv):
    """Returns function(q, k, v) of each sequence, with the results' rows as they are packed in q."""
    parts = [function(q[:, :, first:end], k[:, :, first_kv:end_kv], v[:, :, first_kv:end_kv])
             for (first, end), (first_kv, end_kv) in zip(_sequences(cu_seqlens_q), _sequences(cu_seqlens_kv))
             if end > first]
    return torch.cat(parts, 2) if parts else function(q, k[:, :, :0], v[:, :, :0])


def _without_keys_too(q, k, v, *options):
    """As attention_of_tensors(); without keys, O is 0."""
    return attention_of_tensors(q, k, v, *options) if k.size(2) > 0 else q.new_zeros(*q.shape[:3], v.size(3))


def attention(q, k, v, causal=False, window=0, scale=None, seq_lens_kv=None, softcap=0.0, sinks=None, page_table=None,
              cu_seqlens_q=None, cu_seqlens_kv=None, max_seqlen_q=0, max_seqlen_kv=0, k_descale=None, v_descale=None,
              reason="", kind=""):
    """Computes the operator `forward`."""
    warn_once(reason, kind)
    k, v = _plain(q.dtype, k, v, page_table, cu_seqlens_kv, k_descale, v_descale)
    options = (causal, window, scale, seq_lens_kv, softcap, sinks)
    with torch.autocast(q.device.type, enabled=False):
        if cu_seqlens_q is None:
            o = attention_of_tensors(q, k, v, *options)
        else:
            o = packed(lambda *one: _without_keys_too(*one, *options), q, k, v, cu_seqlens_q, cu_seqlens_kv)
    expected = empty_output(q, v)
    return o if o.stride() == expected.stride() else expected.copy_(o)


def attention_lse(q, k, v, causal=False, window=0, scale=None, seq_lens_kv=None, softcap=0.0, sinks=None,
                  page_table=None, cu_seqlens_q=None, cu_seqlens_kv=None, max_seqlen_q=0, max_seqlen_kv=0,
                  k_descale=None, v_descale=None, reason="", kind=""):
    """Computes the operator `forward_lse`."""
    o = attention(q, k, v, causal, window, scale, seq_lens_kv, softcap, sinks, page_table, cu_seqlens_q, cu_seqlens_kv,
                  max_seqlen_q, max_seqlen_kv, k_descale, v_descale, reason, kind)
    k, v = _plain(q.dtype, k, v, page_table, cu_seqlens_kv, k_descale, v_descale)

    def of(q, k, _v):
        return _lse(q, k, causal, window, scale, seq_lens_kv, softcap, sinks)

    return o, of(q, k, v) if cu_seqlens_q is None else packed(of, q, k, v, cu_seqlens_q, cu_seqlens_kv)

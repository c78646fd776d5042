"""Forward attention in Triton, as a peer of fatune's kernels: the block-wise online softmax, with tiles loaded by TMA.

Q, K, V and O are (batch, positions, heads, columns). Columns are contiguous, and either positions are outside of heads
or the reverse. K and V may have fewer heads than Q. With a causal mask, the last query is aligned with the last key.

Q, K and V may have 8 bits, with scales of tensors or heads; O then has BF16. Tensor cores of Hopper multiply 8-bit
operands whose sums run along contiguous elements. The positions of V are therefore made contiguous beforehand, which is
not part of a launch: a model that rounds V to 8 bits can store it so.
"""
import statistics

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

LOG2_E = 1.4426950408889634
# (query rows, keys of a step, warps, stages): the tuner tries those of the head dimension.
CONFIGS = {64: [(128, 128, 8, 3), (128, 64, 4, 3), (128, 128, 4, 2), (64, 128, 4, 3)],
           128: [(128, 128, 8, 2), (128, 64, 8, 3), (128, 64, 4, 3), (64, 128, 4, 2)],
           256: [(128, 64, 8, 2), (128, 32, 8, 3), (64, 64, 4, 2)]}
EIGHT_BIT_CONFIGS = {64: [(128, 128, 8, 3), (128, 128, 4, 3), (128, 64, 4, 4), (64, 128, 4, 3)],
                     128: [(128, 128, 8, 3), (128, 128, 8, 2), (128, 64, 8, 4), (128, 64, 4, 3), (64, 128, 4, 3)],
                     256: [(128, 128, 8, 2), (128, 64, 8, 3), (128, 64, 8, 2), (64, 64, 4, 3)]}
# P is at most 1. Of 8 bits, it is multiplied by 256, so that small weights keep their digits; so is their sum.
EIGHT_BIT_EXPONENT = 8
ROW_BYTES = 16  # TMA reads rows that begin at multiples
TUNING_LAUNCHES = 5


@triton.jit
def _steps(total, greatest, weight, q, k_map, v_map, kv_row, kv_column, v_row, begin, end, last_seen, seq_kv,
           scale_log2, exponent: tl.constexpr, masked: tl.constexpr, causal: tl.constexpr, keys: tl.constexpr):
    # Steps over the keys in [begin, end). If `masked`, row i sees keys up to last_seen[i]. If `exponent`, P is
    # multiplied by 2 to this power, and V's map has keys as columns.
    for first in tl.range(begin, end, keys):
        k = k_map.load([kv_row + first, kv_column])
        scores = tl.dot(q, k.T)
        if masked:
            place = first + tl.arange(0, keys)
            seen = place[None, :] < seq_kv
            if causal:
                seen = seen & (place[None, :] <= last_seen[:, None])
            scores = tl.where(seen, scores, float("-inf"))
        grown = tl.maximum(greatest, tl.max(scores, 1) * scale_log2)
        base = grown
        if masked:
            base = tl.where(grown == float("-inf"), 0.0, grown)
        p = tl.math.exp2(scores * scale_log2 - (base - exponent)[:, None])
        shrink = tl.math.exp2(greatest - base)
        weight = weight * shrink + tl.sum(p, 1)
        if exponent:
            v = v_map.load([v_row, first]).T
        else:
            v = v_map.load([v_row + first, kv_column])
        total = tl.dot(p.to(v.dtype), v, total * shrink[:, None])
        greatest = grown
    return total, greatest, weight


@triton.jit
def _forward(q_map, k_map, v_map, o, q_scales, k_scales, v_scales, o_batch_stride, o_row_stride, o_head_stride,
             q_scale_stride, kv_scale_stride, scale_log2, heads, group, seq_q, seq_kv, exponent: tl.constexpr,
             heads_inside: tl.constexpr, ragged: tl.constexpr, causal: tl.constexpr, columns: tl.constexpr,
             rows: tl.constexpr, keys: tl.constexpr):
    # Under a causal mask the last tiles have the most work, so they begin first.
    tile = tl.program_id(0)
    if causal:
        tile = tl.num_programs(0) - 1 - tile
    batch = tl.program_id(1) // heads
    head = tl.program_id(1) % heads
    if heads_inside:
        q_row, q_column = batch * seq_q, head * columns
        kv_row, kv_column = batch * seq_kv, head // group * columns
    else:
        q_row, q_column = (batch * heads + head) * seq_q, 0
        kv_row, kv_column = (batch * (heads // group) + head // group) * seq_kv, 0
    v_row = kv_row
    if exponent:
        v_row = (batch * (heads // group) + head // group) * columns
        kv_scale = head // group * kv_scale_stride
        scale_log2 = scale_log2 * tl.load(q_scales + head * q_scale_stride) * tl.load(k_scales + kv_scale)

    first_row = tile * rows
    row = first_row + tl.arange(0, rows)
    diagonal = seq_kv - seq_q
    q = q_map.load([q_row + first_row, q_column])
    total = tl.zeros([rows, columns], tl.float32)
    greatest = tl.full([rows], float("-inf"), tl.float32)
    weight = tl.zeros([rows], tl.float32)

    # First the tiles of keys that every row sees completely, and then those that need a mask.
    end = seq_kv
    whole = seq_kv // keys * keys
    if causal:
        end = tl.maximum(0, tl.minimum(seq_kv, first_row + rows + diagonal))
        whole = tl.maximum(0, tl.minimum(whole, (first_row + diagonal + 1) // keys * keys))
    total, greatest, weight = _steps(total, greatest, weight, q, k_map, v_map, kv_row, kv_column, v_row, 0, whole,
                                     row + diagonal, seq_kv, scale_log2, exponent, False, causal, keys)
    if causal or ragged:
        total, greatest, weight = _steps(total, greatest, weight, q, k_map, v_map, kv_row, kv_column, v_row, whole, end,
                                         row + diagonal, seq_kv, scale_log2, exponent, True, causal, keys)

    result = total / tl.where(weight == 0.0, 1.0, weight)[:, None]
    if exponent:
        result = result * tl.load(v_scales + kv_scale)
    column = tl.arange(0, columns)
    to = o + batch.to(tl.int64) * o_batch_stride + head.to(tl.int64) * o_head_stride
    to = to + row[:, None].to(tl.int64) * o_row_stride + column[None, :]
    tl.store(to, result.to(o.dtype.element_ty), mask=row[:, None] < seq_q)


def _matrix(tensor, rows):
    """Returns a map of the tensor as a matrix. If heads are inside of positions, a row has all heads of a position."""
    batch, positions, heads, columns = tensor.shape
    if tensor.stride(1) == heads * columns:
        shape = [batch * positions, heads * columns]
    else:
        shape = [batch * heads * positions, columns]
    return TensorDescriptor(tensor, shape, [shape[1], 1], [rows, columns])


def _with_contiguous_positions(v):
    """Returns V as a matrix whose rows are columns of its heads."""
    batch, positions, heads, columns = v.shape
    room = -(-positions // ROW_BYTES) * ROW_BYTES
    padded = torch.zeros(batch, heads, columns, room, dtype=torch.uint8, device=v.device)
    padded[..., :positions] = v.view(torch.uint8).permute(0, 2, 3, 1)
    return padded.view(v.dtype).view(batch * heads * columns, room)


def _launcher(inputs, v_columns, config):
    """v_columns: V of 8 bits, of _with_contiguous_positions()"""
    q, k = inputs.q, inputs.k
    rows, keys, warps, stages = config
    batch, seq_q, heads, columns = q.shape
    seq_kv, kv_heads = k.shape[1:3]
    if v_columns is None:
        v_map, exponent, scales, steps = _matrix(inputs.v, keys), 0, (q, q, q), (0, 0)
    else:
        # The positions beyond its last are 0 for TMA.
        v_map = TensorDescriptor(v_columns, [v_columns.shape[0], seq_kv], [v_columns.shape[1], 1], [columns, keys])
        exponent, scales = EIGHT_BIT_EXPONENT, (inputs.q_scales, inputs.k_scales, inputs.v_scales)
        steps = [int(one.numel() > 1) for one in scales[:2]]
    maps = [_matrix(q, rows), _matrix(k, keys), v_map]
    grid = (triton.cdiv(seq_q, rows), batch * heads)
    heads_inside = q.stride(1) == heads * columns

    def launch():
        o = inputs.empty_output(torch)
        _forward[grid](*maps, o, *scales, o.stride(0), o.stride(1), o.stride(2), *steps, inputs.scale * LOG2_E, heads,
                       heads // kv_heads, seq_q, seq_kv, exponent, heads_inside, seq_kv % keys != 0, inputs.causal,
                       columns, rows, keys, num_warps=warps, num_stages=stages)
        return o

    return launch


def _milliseconds(launch):
    """Returns the median of a few consecutive launches."""
    launch()
    events = [torch.cuda.Event(enable_timing=True) for _ in range(TUNING_LAUNCHES + 1)]
    events[0].record()
    for event in events[1:]:
        launch()
        event.record()
    torch.cuda.synchronize()
    return statistics.median(begin.elapsed_time(end) for begin, end in zip(events, events[1:]))


def make(inputs):
    """Returns a function that queues the kernel, in the fastest of its configurations, and returns O.

    inputs: attention_inputs.Inputs
    """
    columns, has_eight_bits = inputs.q.shape[3], inputs.q_scales is not None
    if columns not in CONFIGS:
        raise ValueError(f"no configuration for a head dimension of {columns}")
    v_columns = _with_contiguous_positions(inputs.v) if has_eight_bits else None
    timed = []
    for config in (EIGHT_BIT_CONFIGS if has_eight_bits else CONFIGS)[columns]:
        launch = _launcher(inputs, v_columns, config)
        try:
            timed.append((_milliseconds(launch), config, launch))
        except triton.runtime.errors.OutOfResources:
            continue
    return min(timed, key=lambda one: one[0])[2]

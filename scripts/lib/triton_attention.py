"""Forward attention in Triton, as a peer of fatune's kernels: the block-wise online softmax, with tiles loaded by TMA.

Q, K, V and O are (batch, positions, heads, columns). Columns are contiguous, and either positions are outside of heads
or the reverse. K and V may have fewer heads than Q. With a causal mask, the last query is aligned with the last key.
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
TUNING_LAUNCHES = 5


@triton.jit
def _steps(total, greatest, weight, q, k_map, v_map, kv_row, kv_column, begin, end, last_seen, seq_kv, scale_log2,
           masked: tl.constexpr, causal: tl.constexpr, keys: tl.constexpr):
    # Steps over the keys in [begin, end). If `masked`, row i sees keys up to last_seen[i].
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
        p = tl.math.exp2(scores * scale_log2 - base[:, None])
        shrink = tl.math.exp2(greatest - base)
        weight = weight * shrink + tl.sum(p, 1)
        v = v_map.load([kv_row + first, kv_column])
        total = tl.dot(p.to(v.dtype), v, total * shrink[:, None])
        greatest = grown
    return total, greatest, weight


@triton.jit
def _forward(q_map, k_map, v_map, o, o_batch_stride, o_row_stride, o_head_stride, scale_log2, heads, group, seq_q,
             seq_kv, heads_inside: tl.constexpr, ragged: tl.constexpr, causal: tl.constexpr, columns: tl.constexpr,
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
    total, greatest, weight = _steps(total, greatest, weight, q, k_map, v_map, kv_row, kv_column, 0, whole,
                                     row + diagonal, seq_kv, scale_log2, False, causal, keys)
    if causal or ragged:
        total, greatest, weight = _steps(total, greatest, weight, q, k_map, v_map, kv_row, kv_column, whole, end,
                                         row + diagonal, seq_kv, scale_log2, True, causal, keys)

    result = total / tl.where(weight == 0.0, 1.0, weight)[:, None]
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


def _launcher(q, k, v, causal, scale, config):
    rows, keys, warps, stages = config
    batch, seq_q, heads, columns = q.shape
    seq_kv, kv_heads = k.shape[1:3]
    maps = [_matrix(q, rows), _matrix(k, keys), _matrix(v, keys)]
    grid = (triton.cdiv(seq_q, rows), batch * heads)
    heads_inside = q.stride(1) == heads * columns

    def launch():
        o = torch.empty_like(q)
        _forward[grid](*maps, o, o.stride(0), o.stride(1), o.stride(2), scale * LOG2_E, heads, heads // kv_heads, seq_q,
                       seq_kv, heads_inside, seq_kv % keys != 0, causal, columns, rows, keys, num_warps=warps,
                       num_stages=stages)
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


def make(q, k, v, causal, scale):
    """Returns a function that queues the kernel, in the fastest of its configurations, and returns O."""
    columns = q.shape[3]
    if columns not in CONFIGS:
        raise ValueError(f"no configuration for a head dimension of {columns}")
    timed = []
    for config in CONFIGS[columns]:
        launch = _launcher(q, k, v, causal, scale, config)
        try:
            timed.append((_milliseconds(launch), config, launch))
        except triton.runtime.errors.OutOfResources:
            continue
    return min(timed, key=lambda one: one[0])[2]

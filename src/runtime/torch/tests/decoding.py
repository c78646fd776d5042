"""Random calls of flash_attn_with_kvcache, and the comparison of their results with each sequence computed alone."""
import dataclasses
import random

import torch

from random_problems import Problem, errors, exact

ROOMS = (200, 1000, 4096, 9000)


def _length(draw, room):
    return draw.choice([0, 1, room, draw.randint(0, room), draw.randint(0, room), draw.randint(0, min(room, 100))])


def random_lengths(problem, seed):
    """A length for each sequence, on the host."""
    draw = random.Random(seed)
    return torch.tensor([_length(draw, problem.seq_len_kv) for _ in range(problem.batch)], dtype=torch.int32)


def random_decoding(count, seed, kinds):
    """Problems of 1 to 16 queries. `kinds` has their (element type, d_head)."""
    draw = random.Random(seed)
    problems = []
    for _ in range(count):
        group, kv_heads, rows = draw.choice([1, 4, 8]), draw.choice([1, 2, 8]), draw.choice([1, 1, 1, 2, 5, 16])
        dtype, d_head = draw.choice(kinds)
        window = draw.randint(1, 500) if draw.random() < 0.1 else 0
        problems.append(Problem(draw.choice([1, 3, 8, 20]), kv_heads * group, kv_heads, rows, draw.choice(ROOMS), d_head,
                                d_head, dtype, draw.random() < 0.5, window, draw.choice([None, None, 0.05])))
    return problems


def caches(problem, seed, device="cuda"):
    """q, k_cache and v_cache, (batch, rows, heads, d)."""
    torch.manual_seed(seed)
    p = problem

    def normal(rows, heads):
        return torch.randn(p.batch, rows, heads, p.d_head, dtype=p.dtype, device=device)

    return normal(p.seq_len, p.heads), normal(p.seq_len_kv, p.kv_heads), normal(p.seq_len_kv, p.kv_heads)


def poison(lengths, *tensors):
    """Fills the caches behind the sequences' last keys with NaN."""
    for sequence, length in enumerate(lengths.tolist()):
        for tensor in tensors:
            tensor[sequence, length:] = float("nan")


def options(problem):
    """The arguments of flash_attn_with_kvcache for the problem's mask and scale."""
    left = problem.window - 1 if problem.window else -1
    return {"causal": problem.causal, "softmax_scale": problem.scale,
            "window_size": (left, 0 if problem.causal else left)}


def fault(problem, lengths, o, lse, q, k, v):
    """Returns what is wrong with the results, or None. A sequence is judged as check_on_gpu.py judges a problem; it is
    also computed by PyTorch's own attention."""
    for i, length in enumerate(lengths.tolist()):
        alone = dataclasses.replace(problem, batch=1, seq_len_kv=length)
        operands = [one[i:i + 1, :end].transpose(1, 2) for one, end in ((q, None), (k, length), (v, length))]
        own_o, own_lse = o[i:i + 1].transpose(1, 2), lse[i:i + 1]
        if length == 0:
            if own_o.any() or not own_lse.isneginf().all():
                return f"sequence {i} without keys has O or log-sum-exps"
            continue
        own, _, unfused = errors(alone, own_o, *operands)
        if not own <= 2 * unfused + 1e-5:
            return f"sequence {i} of {length} keys is wrong by {own}, and unfused attention by {unfused}"
        if not torch.allclose(own_lse, exact(alone, *operands)[1], atol=2e-3, rtol=1e-3):
            return f"the log-sum-exps of sequence {i} of {length} keys are wrong"
    return None

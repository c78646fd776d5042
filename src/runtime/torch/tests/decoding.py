"""Random calls of flash_attn_with_kvcache and flash_attn_varlen_func, and the comparison of their results with each
sequence computed alone."""
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


def in_8_bits(kind, lengths, *caches):
    """Returns caches in 8 bits, NaN behind the sequences' last keys; scales of heads, powers of two; and the caches that
    these mean, which 16 bits hold exactly."""
    stored = [one.to(kind) for one in caches]
    scales = [2.0 ** torch.randint(-2, 3, (one.size(2),), device=one.device) for one in caches]
    meant = [one.to(own.dtype) * scale[:, None].to(own.dtype) for own, one, scale in zip(caches, stored, scales)]
    bits = [one.view(torch.uint8) for one in stored]
    for sequence, length in enumerate(lengths.tolist()):
        for one in bits:
            one[sequence, length:] = 255
    return stored, scales, meant


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


def in_pages(page_size, seed, *tensors, filling=float("nan")):
    """Returns a table of pages and caches (batch, rows, heads, d) as pools whose pages are in a random order. Pages have
    `filling` behind a cache's last row, and so have pages that no sequence has. With an odd seed the caches share one
    tensor, whose rows have a row of each, as in vLLM."""
    batch, rows = tensors[0].shape[:2]
    width = -(-rows // page_size)
    order = torch.randperm(batch * width + 3, generator=torch.Generator().manual_seed(seed))
    device = tensors[0].device

    def pool_of(tensor):
        pool = torch.full((len(order), page_size, *tensor.shape[2:]), filling, dtype=tensor.dtype, device=device)
        padded = torch.nn.functional.pad(tensor, (0, 0, 0, 0, 0, width * page_size - rows), value=filling)
        pool[order[:batch * width].to(device)] = padded.reshape(-1, page_size, *tensor.shape[2:])
        return pool

    table = order[:batch * width].reshape(batch, width).to(torch.int32).to(device)
    pools = list(map(pool_of, tensors))
    if seed % 2 == 1:
        pools = torch.cat(pools, -1).split([pool.size(-1) for pool in pools], -1)
    return table, *pools


def packed_in_pages(page_size, seed, keys, *tensors):
    """Returns in_pages() of packed tensors (rows, heads, d), of which sequences have `keys` rows each."""
    rooms = [one.new_full((len(keys), max(keys), *one.shape[1:]), float("nan")) for one in tensors]
    for room, tensor in zip(rooms, tensors):
        for own, rows in zip(room, tensor.split(keys)):
            own[:len(rows)] = rows
    return in_pages(page_size, seed, *rooms)


def random_packed(count, seed, kinds):
    """Problems, and for each the numbers of queries and of keys of its sequences."""
    draw = random.Random(seed)
    for _ in range(count):
        group, kv_heads = draw.choice([1, 4, 8]), draw.choice([1, 2, 4])
        dtype, d_head = draw.choice(kinds)
        keys = [draw.choice([0, 1, draw.randint(1, 200), draw.randint(100, 2000)]) for _ in range(draw.randint(1, 12))]
        keys[0] = max(keys[0], 1)
        queries = keys if draw.random() < 0.5 else [draw.randint(0, length) for length in keys]
        queries = [1 if sum(queries) == 0 else length for length in queries]
        window = draw.randint(1, 500) if draw.random() < 0.1 else 0
        yield Problem(1, kv_heads * group, kv_heads, sum(queries), sum(keys), d_head, d_head, dtype, draw.random() < 0.6,
                      window, draw.choice([None, 0.05])), queries, keys


def starts_of(lengths, device="cuda"):
    return torch.tensor([0, *lengths], dtype=torch.int32).cumsum(0, dtype=torch.int32).to(device)


def packed_fault(problem, queries, keys, o, lse, q, k, v):
    """Returns what is wrong with the results of a packed call, or None; operands are (rows, heads, d)."""
    first = first_k = 0
    for rows, length in zip(queries, keys):
        alone = dataclasses.replace(problem, seq_len=rows, seq_len_kv=length)
        if rows > 0:
            one = [x[None, a:a + n] for x, a, n in ((q, first, rows), (k, first_k, length), (v, first_k, length))]
            own_o, own_lse = o[None, first:first + rows], lse[None, :, first:first + rows]
            found = fault(alone, torch.tensor([length]), own_o, own_lse, *one)
            if found is not None:
                return found
        first, first_k = first + rows, first_k + length
    return None

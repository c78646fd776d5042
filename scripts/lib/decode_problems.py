"""Lists of decode problems: few queries, many keys. BF16, for which every peer has kernels."""
import random

import attention_inputs
import fatune_program

# (batch, queries, keys, heads, heads of K and V), with each head dimension; with 4 queries and more, causal.
SHAPES = ((1, 1, 1024, 32, 4), (1, 1, 4096, 32, 4), (1, 1, 16384, 32, 4), (1, 1, 65536, 32, 8), (1, 1, 131072, 32, 8),
          (8, 1, 8192, 32, 8), (32, 1, 4096, 32, 8), (64, 1, 8192, 32, 8), (128, 1, 2048, 32, 8), (16, 1, 4096, 32, 32),
          (16, 1, 8192, 64, 8), (1, 4, 16384, 32, 8), (8, 4, 8192, 32, 8), (64, 4, 8192, 32, 8), (1, 8, 32768, 32, 8),
          (8, 8, 8192, 32, 8), (8, 16, 8192, 32, 8), (64, 16, 4096, 32, 8), (1, 64, 32768, 32, 8), (8, 64, 8192, 32, 8))
HEAD_DIMS = (128, 64)
CAUSAL_FROM = 4  # queries
RANDOM_HEAD_DIMS = (64, 64, 128, 128, 256)
MOST_BYTES = 24e9  # of K and V


def kv_bytes(problem):
    """Returns the bytes of K and V, without scales."""
    # Latent keys have the values among their columns.
    columns = problem["d_head"] + (0 if problem.get("latent") else problem.get("d_head_v", problem["d_head"]))
    element_bytes = 1 if attention_inputs.has_eight_bits(problem) else 2
    keys = fatune_program.total_keys(problem) if "seq_len_kv" in problem else problem["batch"] * problem["seq_len"]
    return element_bytes * keys * problem.get("kv_heads", problem["heads"]) * columns


def problem_of(batch, queries, keys, heads, kv_heads, d_head):
    return {"batch": batch, "seq_len": queries, "heads": heads, "d_head": d_head, "dtype": "BF16",
            "causal": queries >= CAUSAL_FROM, "seq_len_kv": keys, "kv_heads": kv_heads}


def table():
    return [problem_of(*shape, d_head) for d_head in HEAD_DIMS for shape in SHAPES]


def log_uniform(generator, low, high):
    """Returns a whole number from low to high, the logarithm of which is about uniform."""
    return min(high, int(low * ((high + 1) / low) ** generator.random()))


def _random_problem(generator):
    group, kv_heads = generator.choice((1, 2, 3, 4, 5, 6, 7, 8, 12, 16)), generator.choice((1, 2, 4, 8, 16))
    queries = log_uniform(generator, 1, 64) if generator.random() < 0.5 else 1
    return problem_of(log_uniform(generator, 1, 256), queries, log_uniform(generator, 256, 262144), group * kv_heads,
                      kv_heads, generator.choice(RANDOM_HEAD_DIMS))


def _is_wanted(one):
    return kv_bytes(one) <= MOST_BYTES


def _with_lengths(one, generator):
    """Returns the problem with a length of its own for each sequence. Every query sees a key."""
    least = max(one["seq_len"], one["seq_len_kv"] // 16)
    lengths = [generator.randint(least, one["seq_len_kv"]) for _ in range(one["batch"])]
    lengths[generator.randrange(one["batch"])] = one["seq_len_kv"]
    return {**one, fatune_program.KEY_LENGTHS: ",".join(map(str, lengths))}


def random_problems(seed, count):
    """Returns problems that depend on the seed alone: the first ones are the same whatever the count. Every second one
    has lengths that differ, if it has several sequences."""
    generator, found = random.Random(seed), []
    while len(found) < count:
        one = _random_problem(generator)
        if _is_wanted(one):
            differ = len(found) % 2 == 1 and one["batch"] > 1
            found.append(_with_lengths(one, generator) if differ else one)
    return found

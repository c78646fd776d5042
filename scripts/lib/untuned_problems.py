"""Prefill problems at random, none of which was tuned. BF16, for which every peer has kernels."""
import pathlib
import random

import decode_problems
import fatune_program

TUNED = pathlib.Path(__file__).parents[2] / "configs"  # its folders tuned* have a file for each GPU
GROUPS = (1, 4, 8)  # heads of Q that share a head of K and V
HEAD_DIMS = (64, 128, 128, 256)
MOST_FLOP = 20e-3 * 500e12  # of a launch: about 20 ms
MOST_BYTES = 8e9  # of Q, K, V and O


def flop(one):
    """Returns the operations of a problem by the literature's count: half with a causal mask."""
    return 4 * one["batch"] * one["heads"] * one["seq_len"]**2 * one["d_head"] / (2 if one["causal"] else 1)


def tensor_bytes(one):
    """Returns the bytes of Q, K, V and O, of 16-bit elements."""
    return 4 * one["batch"] * one["seq_len"] * (one["heads"] + one["kv_heads"]) * one["d_head"]


def tuned_problems(folder=TUNED):
    """Returns the problems of the results that are shipped, of every GPU."""
    return [problem for file in sorted(folder.glob("tuned*/*.json"))
            for problem, _ in fatune_program.winners_of(file, None)]


def _random_problem(generator):
    group = generator.choice(GROUPS)
    kv_heads = decode_problems.log_uniform(generator, -(-2 // group), 64 // group)
    positions = decode_problems.log_uniform(generator, 128, 131071) | 1
    return {"batch": decode_problems.log_uniform(generator, 1, 32), "seq_len": positions, "heads": group * kv_heads,
            "d_head": generator.choice(HEAD_DIMS), "dtype": "BF16", "causal": generator.random() < 0.5,
            "seq_len_kv": positions, "kv_heads": kv_heads}


def random_problems(seed, count, tuned=None):
    """Returns problems of odd lengths that depend on the seed and the tuned ones alone: the first ones are the same
    whatever the count. tuned: problems to leave out (default: those of the results that are shipped)"""
    tuned = tuned_problems() if tuned is None else tuned
    generator, found = random.Random(seed), []
    while len(found) < count:
        one = _random_problem(generator)
        if (flop(one) <= MOST_FLOP and tensor_bytes(one) <= MOST_BYTES and
                not any(fatune_program.is_same(one, other) for other in tuned)):
            found.append(one)
    return found

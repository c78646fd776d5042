"""Named sets of problems that scripts/compare_problems sweeps and compares."""
import dataclasses
import itertools

import decode_problems
import packed_problems
import untuned_problems

DECODE_SWEEP = "--family flash_decode --budget 4"
PREFILL_SWEEP = "--family flash_sm90 --budget 6"
PROMPT_SWEEP = "--budget 6"  # where tiles are few, other families are faster
FORMS = ("table[:COUNT], random:SEED[:COUNT], untuned:SEED[:COUNT], pages[:COUNT], latent[:COUNT], packed[:COUNT], "
         "head_dims[:COUNT], scores[:COUNT], eight_bits[:COUNT] or eight_bit_keys[:COUNT]")
PAGE_SIZES = (16, 64)  # keys
EIGHT_BIT_LENGTHS, EIGHT_BIT_HEAD_DIMS = (1024, 2048, 4096, 8192, 16384), (128, 64, 256)
MOST_BATCH, MOST_POSITIONS = 16, 65536  # of a batch: problem.cpp, default_batch()
# (batch, keys, heads, heads of K and V, head dimension) of one query: caches of 64 MiB to 1 GiB.
PAGED_SHAPES = ((4, 4096, 32, 8, 128), (16, 2048, 32, 8, 128), (8, 8192, 32, 8, 128), (2, 65536, 64, 8, 128),
                (32, 8192, 32, 8, 128), (64, 8192, 64, 8, 64))
# Of one query, with latent keys of 576 columns, 512 of which are V (DeepSeek-V3), contiguous and in pages.
LATENT_BATCHES, LATENT_KEYS, LATENT_HEADS, LATENT_PAGE_SIZE = (64, 128), (8192, 4096), (16, 64, 128), 64
# (batch, positions) with 128 heads of 192 columns of Q and K, and 128 of V: DeepSeek-V3's prefill.
TWO_DIMS = ((1, 4096), (1, 16384), (4, 2048))
# Of models: softcap (Gemma 2), a window (Mistral), sinks with and without a window (gpt-oss).
SCORES = ({"batch": 2, "seq_len": 4096, "heads": 16, "kv_heads": 8, "d_head": 256, "softcap": 50.0},
          {"batch": 1, "seq_len": 16384, "heads": 32, "kv_heads": 8, "d_head": 128, "window": 4096},
          {"batch": 2, "seq_len": 8192, "heads": 64, "kv_heads": 8, "d_head": 64, "sinks": True},
          {"batch": 2, "seq_len": 8192, "heads": 64, "kv_heads": 8, "d_head": 64, "sinks": True, "window": 128})


@dataclasses.dataclass
class ProblemSet:
    groups: list  # lists of problems: those of a group are timed in the same rounds
    sweep: str  # options


def _alone(problems):
    return [[one] for one in problems]


def paged():
    """Returns groups: a contiguous cache, and the same in pages of each size."""
    shapes = [decode_problems.problem_of(batch, 1, keys, heads, kv_heads, d_head)
              for batch, keys, heads, kv_heads, d_head in PAGED_SHAPES]
    return [[one, *({**one, "page_size": size} for size in PAGE_SIZES)] for one in shapes]


def latent():
    """Returns groups: a contiguous cache, and the same in pages."""
    shapes = [decode_problems.problem_of(batch, 1, keys, heads, 1, 576)
              for batch, keys, heads in itertools.product(LATENT_BATCHES, LATENT_KEYS, LATENT_HEADS)]
    return [[{**one, "d_head_v": 512, "latent": True, **pages} for pages in ({}, {"page_size": LATENT_PAGE_SIZE})]
            for one in shapes]


def _prefill(**members):
    return {"dtype": "BF16", "causal": True, **members}


def two_dims():
    return [_prefill(batch=batch, seq_len=positions, heads=128, d_head=192, d_head_v=128)
            for batch, positions in TWO_DIMS]


def eight_bits():
    """Returns prefill problems with Q, K and V of 8 bits, in the batches that fatune has by default."""
    return [{"batch": min(MOST_BATCH, MOST_POSITIONS // positions), "seq_len": positions, "heads": 16, "d_head": d_head,
             "dtype": "E4M3", "causal": causal}
            for d_head, causal, positions in itertools.product(EIGHT_BIT_HEAD_DIMS, (False, True), EIGHT_BIT_LENGTHS)]


def eight_bit_keys():
    """Returns groups as paged() does, with K and V of 8 bits, and the contiguous cache of 16 bits as the first."""
    return [[group[0], *({**one, "kv_dtype": "E4M3"} for one in group)] for group in paged()]


SETS = {"table": lambda: ProblemSet(_alone(decode_problems.table()), DECODE_SWEEP),
        "pages": lambda: ProblemSet(paged(), DECODE_SWEEP),
        "latent": lambda: ProblemSet(latent(), DECODE_SWEEP),
        "packed": lambda: ProblemSet(_alone(packed_problems.batches()), PREFILL_SWEEP),
        "head_dims": lambda: ProblemSet(_alone(two_dims()), PREFILL_SWEEP),
        "eight_bits": lambda: ProblemSet(_alone(eight_bits()), PREFILL_SWEEP),
        "eight_bit_keys": lambda: ProblemSet(eight_bit_keys(), DECODE_SWEEP),
        "scores": lambda: ProblemSet(_alone(_prefill(**one) for one in SCORES), PREFILL_SWEEP)}

# Sets at random: (function of seed and count, the usual count, options of a sweep)
RANDOM_SETS = {"random": (decode_problems.random_problems, 40, DECODE_SWEEP),
               "untuned": (untuned_problems.random_problems, 60, PROMPT_SWEEP)}


def named(text):
    """Returns the set of a name of FORMS. Raises ValueError for another text."""
    name, *numbers = text.split(":")
    if all(number.isdecimal() for number in numbers):
        if name in SETS and len(numbers) <= 1:
            found = SETS[name]()
            return dataclasses.replace(found, groups=found.groups[:int(numbers[0]) if numbers else None])
        if name in RANDOM_SETS and 1 <= len(numbers) <= 2:
            draw, usual_count, sweep = RANDOM_SETS[name]
            return ProblemSet(_alone(draw(int(numbers[0]), int(numbers[1]) if numbers[1:] else usual_count)), sweep)
    raise ValueError(f"'{text}' is none of {FORMS}")

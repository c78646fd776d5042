#!/usr/bin/env python3
"""Checks a family on random problems: lengths, masks, groups, layouts, head dimensions, softcap, sinks, pages, packed
batches, V that is columns of K. On the GPU each has three configurations. With --emulate, small problems run in the
emulator, without a GPU, each with one configuration.

The problems depend on the seed and on --emulate alone. Needs only Python:
random_check.py --fatune build/ci/bin/fatune --family flash_sm90 --count 500 --time-limit 400
"""

import argparse
import dataclasses
import functools
import json
import random
import subprocess
import sys
import time

from sweep_tools import skip_without_gpu

GROUPS = (1, 1, 2, 3, 4, 5, 7, 8, 12, 16)
# Stages of K and V, and blocks of an SM, that fit with 64 keys a step.
STAGES = {64: {8: (4, 3), 16: (3, 3), 32: (4, 2), 64: (3, 2), 128: (6, 1), 192: (4, 1)},
          128: {8: (3, 2), 16: (2, 3), 32: (4, 1), 64: (4, 1), 128: (4, 1), 192: (3, 1)},
          256: {8: (2, 1), 16: (1, 2), 32: (2, 1), 64: (2, 1), 128: (2, 1)}}
# Tuples of flash_decode_sm80 without the type: they fit every device of compute capability 8.0 and newer.
SM80 = {64: ("16, 32, 4, 2, 2", "16, 64, 2, 4, 2", "32, 64, 3, 4, 1", "64, 64, 4, 4, 1", "64, 128, 2, 8, 1"),
        128: ("16, 32, 3, 2, 1", "16, 64, 2, 4, 1", "32, 64, 2, 4, 1", "64, 64, 2, 4, 1"),
        256: ("16, 32, 2, 2, 1",)}
PART_KEYS = (64, 128, 256, 1024, 8192)


@dataclasses.dataclass(frozen=True)
class Size:
    """How large problems may be. Lengths are powers of 2 to a random exponent."""
    groups: tuple = GROUPS
    decode_kv_heads: tuple = (1, 2, 3, 8)
    decode_queries: tuple = (1, 1, 1, 2, 3, 5, 16, 40, 64, 130)
    decode_batches: tuple = (1, 1, 2, 3, 7, 33)
    decode_exponent: float = 16  # of keys
    decode_keys: int = 2_000_000  # in all
    latent_batches: tuple = (1, 1, 2, 7, 33)
    latent_heads: tuple = (1, 16, 20, 64, 96, 128)
    latent_keys: int = 300_000  # in all
    prefill_kv_heads: tuple = (1, 2, 3)
    prefill_exponent: float = 12  # of queries and keys: at most about 10^9 scores
    packed_batches: tuple = (1, 2, 5, 40)
    packed_exponent: float = 11
    configs: int = 3


ON_GPU = Size()
EMULATED = Size(groups=(1, 1, 2, 3, 5), decode_kv_heads=(1, 2), decode_queries=(1, 1, 2, 5, 16), decode_batches=(1, 2, 3),
                decode_exponent=9, decode_keys=1500, latent_batches=(1, 2), latent_heads=(1, 16, 20, 128), latent_keys=500,
                prefill_kv_heads=(1, 2), prefill_exponent=8.5, packed_batches=(1, 2, 5), packed_exponent=7, configs=1)


PREFILL_DIMENSIONS = {"flash_sm80": ((64, 64), (96, 96), (128, 128), (256, 256)),
                      "flash_sm90": ((64, 64), (72, 72), (80, 80), (96, 96), (128, 128), (192, 128), (256, 256))}


def score_options(generator, most_window):
    """Returns options that change scores and which of them count."""
    words = [flag for flag in ("--causal", "--lse") if generator.random() < 0.5]
    words += ["--sinks"] if generator.random() < 0.3 else []
    words += ["--softcap", str(generator.choice((2, 15, 50)))] if generator.random() < 0.3 else []
    return words + (["--window", str(generator.randint(1, most_window))] if generator.random() < 0.3 else [])


def words_of(options):
    return [str(word) for pair in options.items() for word in pair]


def decode_problem(generator, family, size):
    """Returns options, d_head, dtype and group of a problem."""
    group, kv_heads = generator.choice(size.groups), generator.choice(size.decode_kv_heads)
    queries = generator.choice(size.decode_queries)
    batch = generator.choice(size.decode_batches)
    keys = min(int(2 ** generator.uniform(0, size.decode_exponent)), size.decode_keys // (batch * kv_heads))
    d_head, dtype = generator.choice((64, 128, 256)), generator.choice(("FP16", "BF16"))
    options = {"--seq": queries, "--seq-kv": keys, "--heads": group * kv_heads, "--kv-heads": kv_heads, "--batch": batch}
    if generator.random() < 0.5:
        options["--seq-kv-lens"] = ",".join(str(generator.randint(0, keys)) for _ in range(batch))
    if generator.random() < 0.5:
        options["--layout"] = "bhsd"
    pages = page_options(generator) if family == "flash_decode" and generator.random() < 0.3 else []
    return words_of(options) + pages + score_options(generator, keys + queries), d_head, dtype, group


def latent_case(generator, size):
    """Returns the options of a problem whose V is columns of K, and configurations for it."""
    batch, heads = generator.choice(size.latent_batches), generator.choice(size.latent_heads)
    keys = min(int(2 ** generator.uniform(0, size.decode_exponent)), size.latent_keys // batch)
    options = {"--seq": generator.choice((1, 1, 1, 2, 3)), "--seq-kv": keys, "--heads": heads, "--kv-heads": 1,
               "--dhead-v": 512, "--batch": batch}
    if generator.random() < 0.5:
        options["--seq-kv-lens"] = ",".join(str(generator.randint(0, keys)) for _ in range(batch))
    if generator.random() < 0.5:
        options["--page-size"] = 2 ** generator.randint(0, 8)
    words = ["--latent", *words_of(options), *score_options(generator, keys + options["--seq"])]
    dtype = generator.choice(("FP16", "BF16"))
    return words, [f"({dtype}, 576, 64, 64, 2, 1): parts_{generator.choice(PART_KEYS)}{shared}"
                   for shared in ("", "+shared_sums")]


def decode_configurations(generator, family, d_head, dtype, group):
    if family == "flash_decode_sm80":
        for shape in generator.sample(SM80[d_head], min(3, len(SM80[d_head]))):
            shared = generator.choice(("", "+shared_sums"))
            yield f"({dtype}, {d_head}, {shape}): parts_{generator.choice(PART_KEYS[1:])}{shared}"
        return
    fit = [rows for rows in STAGES[d_head] if rows >= group or rows >= 64]
    for rows in generator.sample(fit, min(3, len(fit))):
        stages, blocks = STAGES[d_head][rows]
        shared = generator.choice(("", "+shared_sums"))
        yield f"({dtype}, {d_head}, {rows}, 64, {stages}, {blocks}): parts_{generator.choice(PART_KEYS)}{shared}"


def decode_case(generator, options):
    """Returns the options of a problem, and configurations for it."""
    if options.family == "flash_decode" and generator.random() < 0.15:
        return latent_case(generator, options.size)
    words, *kernel = decode_problem(generator, options.family, options.size)
    return words, list(decode_configurations(generator, options.family, *kernel))


def prefill_problem(generator, size, d_head, d_head_v, dtype):
    """Returns the options of a problem."""
    group, kv_heads = generator.choice(size.groups), generator.choice(size.prefill_kv_heads)
    queries, batch = int(2 ** generator.uniform(0, size.prefill_exponent)), generator.choice((1, 1, 2, 3))
    keys = queries if generator.random() < 0.5 else int(2 ** generator.uniform(0, size.prefill_exponent))
    options = {"--seq": queries, "--seq-kv": keys, "--heads": group * kv_heads, "--kv-heads": kv_heads,
               "--batch": batch, "--dhead": d_head, "--dhead-v": d_head_v, "--dtype": dtype}
    if generator.random() < 0.5:
        options["--layout"] = "bhsd"
    return words_of(options) + score_options(generator, keys + queries)


def page_options(generator):
    """Returns the option of K and V in pages, of any size."""
    return ["--page-size", str(2 ** generator.randint(0, 8))]


def packed_problem(generator, size, d_head, d_head_v, dtype):
    """Returns the options of a packed batch: prompts, chunks of prompts, and sequences that are being decoded."""
    group, kv_heads = generator.choice(size.groups), generator.choice(size.prefill_kv_heads)
    batch = generator.choice(size.packed_batches)
    queries = [int(2 ** generator.uniform(0, size.packed_exponent)) * generator.choice((0, 1, 1, 1)) for _ in range(batch)]
    queries[0] = max(1, queries[0])
    options = {"--seq-lens": ",".join(map(str, queries)), "--heads": group * kv_heads, "--kv-heads": kv_heads,
               "--dhead": d_head, "--dhead-v": d_head_v, "--dtype": dtype}
    if generator.random() < 0.5:
        keys = [generator.choice((0, own, own + int(2 ** generator.uniform(0, size.packed_exponent)))) for own in queries]
        options["--seq-kv-lens"] = ",".join(map(str, [max(1, keys[0]), *keys[1:]]))
    return words_of(options) + score_options(generator, 2048)


@functools.cache
def kept_configurations(fatune, family, d_head, d_head_v, dtype):
    """Returns the configurations that the family's usual space keeps."""
    line = [fatune, "list", "--family", family, "--space", "tune", "--arch", "sm_90a", "--format", "json",
            "--dhead", str(d_head), "--dhead-v", str(d_head_v), "--dtype", dtype, "--seq", "1024"]
    listed = json.loads(subprocess.run(line, capture_output=True, text=True, check=True).stdout)
    return [row["config"] for row in listed["kept"]]


def prefill_case(generator, options):
    """Returns the options of a problem, and configurations for it."""
    d_head, d_head_v = generator.choice(PREFILL_DIMENSIONS[options.family])
    kernel = (d_head, d_head_v, generator.choice(("FP16", "BF16")))
    configs = kept_configurations(options.fatune, options.family, *kernel)
    hopper = options.family == "flash_sm90"
    packed, paged = generator.random() < 0.4, hopper and generator.random() < 0.4
    if packed or paged:
        configs = [config for config in configs if "cluster_2" not in config and "split" not in config]
    words = (packed_problem if packed else prefill_problem)(generator, options.size, *kernel)
    pages = page_options(generator) if paged else []
    return words + pages, generator.sample(configs, min(3, len(configs)))


HARMLESS = ("right", "serialized")  # the latter is slow, and not run
CASES = {"flash_decode": decode_case, "flash_decode_sm80": decode_case, "flash_sm80": prefill_case,
         "flash_sm90": prefill_case}


def program_line(options, words, configs):
    """Returns the command that checks configurations on a problem."""
    how = ["emulate", "--schedules", "1"] if options.emulate else ["check", "--require-gpu"]
    chosen = [word for config in configs[:options.size.configs] for word in ("--config", config)]
    return [options.fatune, *how, "--family", options.family, "--quiet", "--format", "json", *words, *chosen]


def faults_of(line):
    """Runs the command. Returns how many configurations are right, and what is wrong with the others."""
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    try:
        report = json.loads(done.stdout)
    except ValueError:
        return 0, [f"exit code {done.returncode}: {done.stderr.strip()[:300]}: {' '.join(line)}"]
    checks = report["configs" if "configs" in report else "checks"]
    wrong = [f"{check['outcome']}: {check['detail']}: {' '.join(line)}" for check in checks
             if check["outcome"] not in HARMLESS]
    return sum(check["outcome"] == "right" for check in checks), wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--fatune", required=True, help="the program")
    parser.add_argument("--family", choices=CASES, default="flash_decode")
    parser.add_argument("--count", type=int, default=40, help="problems")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--time-limit", type=float, default=1e9, metavar="SECONDS")
    parser.add_argument("--emulate", action="store_true", help="small problems, in the emulator")
    options = parser.parse_args()
    options.size = EMULATED if options.emulate else ON_GPU
    if not options.emulate:
        skip_without_gpu(options.fatune)
    generator, end = random.Random(options.seed), time.monotonic() + options.time_limit
    problems = right = 0
    wrong = []
    while problems < options.count and time.monotonic() < end:
        right_ones, faults = faults_of(program_line(options, *CASES[options.family](generator, options)))
        problems += 1
        right += right_ones
        wrong += faults
    print(f"{problems} problems, {right} configurations right, {len(wrong)} not")
    print("\n".join(wrong[:20]))
    sys.exit(1 if wrong or right == 0 else 0)


if __name__ == "__main__":
    main()

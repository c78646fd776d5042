#!/usr/bin/env python3
"""Checks flash_decode, or flash_decode_sm80, on the GPU on random problems, each with three configurations: lengths,
masks, groups, layouts; flash_decode also with pages.

The problems depend on the seed alone. Needs only Python:
random_decode_check.py --fatune build/ci/bin/fatune --count 500 --time-limit 400
"""

import argparse
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


def problem(generator, family):
    """Returns options, d_head, dtype and group of a problem of at most about 2 million keys in all."""
    group, kv_heads = generator.choice(GROUPS), generator.choice((1, 2, 3, 8))
    queries = generator.choice((1, 1, 1, 2, 3, 5, 16, 40, 64, 130))
    batch = generator.choice((1, 1, 2, 3, 7, 33))
    keys = min(int(2 ** generator.uniform(0, 16)), 2_000_000 // (batch * kv_heads))
    d_head, dtype = generator.choice((64, 128, 256)), generator.choice(("FP16", "BF16"))
    options = {"--seq": queries, "--seq-kv": keys, "--heads": group * kv_heads, "--kv-heads": kv_heads, "--batch": batch}
    flags = [flag for flag in ("--causal", "--lse") if generator.random() < 0.5]
    if generator.random() < 0.3:
        options["--window"] = generator.randint(1, keys + queries)
    if generator.random() < 0.5:
        options["--seq-kv-lens"] = ",".join(str(generator.randint(0, keys)) for _ in range(batch))
    if generator.random() < 0.5:
        options["--layout"] = "bhsd"
    if family == "flash_decode" and generator.random() < 0.3:
        options["--page-size"] = 2 ** generator.randint(0, 8)
    return [str(word) for pair in options.items() for word in pair] + flags, d_head, dtype, group


def configurations(generator, family, d_head, dtype, group):
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


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--fatune", required=True, help="the program")
    parser.add_argument("--family", choices=("flash_decode", "flash_decode_sm80"), default="flash_decode")
    parser.add_argument("--count", type=int, default=40, help="problems")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--time-limit", type=float, default=1e9, metavar="SECONDS")
    options = parser.parse_args()
    skip_without_gpu(options.fatune)
    generator, end = random.Random(options.seed), time.monotonic() + options.time_limit
    problems = right = 0
    wrong = []
    while problems < options.count and time.monotonic() < end:
        words, d_head, dtype, group = problem(generator, options.family)
        chosen = [word for config in configurations(generator, options.family, d_head, dtype, group)
                  for word in ("--config", config)]
        line = [options.fatune, "check", "--family", options.family, "--require-gpu", "--quiet", "--format", "json",
                *words, *chosen]
        done = subprocess.run(line, capture_output=True, text=True, check=False)
        problems += 1
        try:
            checks = json.loads(done.stdout)["checks"]
        except ValueError:
            wrong.append(f"exit code {done.returncode}: {done.stderr.strip()[:300]}: {' '.join(line)}")
            continue
        right += sum(check["outcome"] == "right" for check in checks)
        wrong += [f"{check['outcome']}: {check['detail']}: {' '.join(line)}" for check in checks
                  if check["outcome"] != "right"]
    print(f"{problems} problems, {right} configurations right, {len(wrong)} not")
    print("\n".join(wrong[:20]))
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()

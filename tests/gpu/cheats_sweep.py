#!/usr/bin/env python3
"""Sweeps tests/families/cheats on a GPU: no kernel that saves its work when it is not looked at may
have a rank, in a race as little as with a fixed count, and those that are right must have theirs.

Needs nothing but Python: cheats_sweep.py --fatune build/ci/bin/fatune --family tests/families/cheats
"""

import argparse
import re
import sys
import tempfile

from sweep_tools import Sweep, print_table, skip_without_gpu

WATCHDOG_S = 2
DIFFERS = r"(?s)(sample \d+: its output differs from the verified one of the same inputs|(launch \d+ of|the last of) \d+ (launches )?in a row): "
NEVER_WRITTEN = r"output values are NaN, infinite or were never written"
# Those that save their work as soon as they can.
WRONG = {
    "same_inputs": NEVER_WRITTEN,
    "odd_launches": NEVER_WRITTEN,
    "half_keys": DIFFERS + r".*greatest error",
    "skip": DIFFERS + r".*" + NEVER_WRITTEN,
    "no_maximum": NEVER_WRITTEN,
    "first_answer": r"greatest error",
    "cached_values": r"greatest error",
    "outer_rows": r"greatest error",
    "next_launch": NEVER_WRITTEN,
    "by_clock": NEVER_WRITTEN,
}
EXPECTED = {cheat: ("wrong_result", said) for cheat, said in WRONG.items()}
EXPECTED["hang"] = ("timed_out", r"no result within \d+ ms")
EXPECTED["saved_answers"] = ("implausible", r"remembers its answers")
# Those that do their work in every sample, and whether they do it alike each time.
RIGHT = {"none": True, "unless_poisoned": True, "last_bits": False}


def sweep(options, more):
    arguments = ["--kernel-dir", options.family, "--space", "cheats", "--seq", "512", "--batch", "2",
                 "--heads", "4", "--no-db"]
    report, seconds = Sweep(options.fatune, arguments + more,
                            {"FATUNE_WATCHDOG_S": str(WATCHDOG_S)}).result()
    assert report["complete"], "the sweep is not complete"
    return report["problems"][0], seconds


def cheat_of(entry):
    return re.match(r"\(FP16, 64, (\w+)\)", entry["config"])[1]


def finding_of_failure(entry):
    """What is wrong with an outcome; nothing when it is as it should be."""
    cheat = cheat_of(entry)
    if cheat not in EXPECTED:
        return "must be ranked"
    outcome, pattern = EXPECTED[cheat]
    if entry["outcome"] != outcome:
        return f"must be {outcome}"
    return "" if re.search(pattern, entry["detail"]) else f"must say {pattern}"


def finding_of_ranked(entry):
    cheat = cheat_of(entry)
    if cheat not in RIGHT:
        return "must have no rank"
    return "" if entry["deterministic"] == RIGHT[cheat] else "is wrong about deterministic"


def check(problem):
    rows = [["cheat", "outcome", "finding", "message"]]
    for entry in problem["ranking"]:
        rows.append([cheat_of(entry), f"{entry['time_us']:.1f} us", finding_of_ranked(entry) or "ok",
                     "" if entry["deterministic"] else "not deterministic"])
    for entry in problem["failures"]:
        rows.append([cheat_of(entry), entry["outcome"], finding_of_failure(entry) or "ok",
                     entry["detail"]])
    print_table(rows)
    found = {row[0] for row in rows[1:]}
    wrong = [f"{row[0]}: {row[2]}" for row in rows[1:] if row[2] != "ok"]
    return wrong + [f"{cheat}: missing" for cheat in (EXPECTED.keys() | RIGHT.keys()) - found]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--fatune", required=True, help="the program")
    parser.add_argument("--family", required=True, help="the folder tests/families/cheats")
    options = parser.parse_args()
    skip_without_gpu(options.fatune)
    wrong = []
    with tempfile.TemporaryDirectory() as cache:
        for more in (["--strategy", "race"], ["--strategy", "exhaustive", "--repeats", "20"]):
            problem, seconds = sweep(options, more + ["--cache-dir", cache])
            print(f"\n{more[1]}: {seconds:.1f} s")
            wrong += check(problem)
    print("\nwrong:", "; ".join(wrong) if wrong else "nothing")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()

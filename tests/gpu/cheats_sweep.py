#!/usr/bin/env python3
"""Sweeps tests/families/cheats on a GPU. No kernel that skips its work when it is not checked may
have a rank, with either strategy. Kernels that are right must have one.

Needs only Python: cheats_sweep.py --fatune build/ci/bin/fatune --family tests/families/cheats
"""

from sweep_tools import check_strategies, fault_of, finding, print_table, sweep_family

DIFFERS = r"(?s)(sample \d+: its output differs from the verified one of the same inputs|(launch \d+ of|the last of) \d+ (launches )?in a row): "
NEVER_WRITTEN = r"output values are NaN, infinite or were never written"
# Kernels that skip their work as soon as they can.
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
# Kernels that do their work in every sample, and whether its results are the same each time.
RIGHT = {"none": True, "unless_poisoned": True, "last_bits": False}


def finding_of_failure(entry):
    cheat = fault_of(entry)
    return finding(entry, *EXPECTED[cheat]) if cheat in EXPECTED else "must be ranked"


def finding_of_ranked(entry):
    cheat = fault_of(entry)
    if cheat not in RIGHT:
        return "must have no rank"
    return "" if entry["deterministic"] == RIGHT[cheat] else "is wrong about deterministic"


def check(options, more):
    problem, seconds = sweep_family(options, "cheats", more)
    print(f"{seconds:.1f} s")
    rows = [["cheat", "outcome", "finding", "message"]]
    for entry in problem["ranking"]:
        rows.append([fault_of(entry), f"{entry['time_us']:.1f} us", finding_of_ranked(entry) or "ok",
                     "" if entry["deterministic"] else "not deterministic"])
    for entry in problem["failures"]:
        rows.append([fault_of(entry), entry["outcome"], finding_of_failure(entry) or "ok",
                     entry["detail"]])
    print_table(rows)
    found = {row[0] for row in rows[1:]}
    wrong = [f"{row[0]}: {row[2]}" for row in rows[1:] if row[2] != "ok"]
    return wrong + [f"{cheat}: missing" for cheat in (EXPECTED.keys() | RIGHT.keys()) - found]


if __name__ == "__main__":
    check_strategies(__doc__, check)

#!/usr/bin/env python3
"""Sweeps tests/families/faulty on a GPU. Every kernel must get the right outcome, with a helpful
message. Kernels that are right must be ranked as they are when they run alone.

Needs only Python: faults_sweep.py --fatune build/ci/bin/fatune --family tests/families/faulty
"""

import re

from sweep_tools import (WATCHDOG_S, check_strategies, fault_of, finding, print_table,
                         sweep_family)

ILLEGAL = r"CUDA_ERROR_ILLEGAL_ADDRESS"
HUNG = r"no result within (\d+) ms"
EXPECTED = {
    "compile_error": ("compile_failed", r"this kernel is meant not to compile"),
    "too_much_smem": ("unlaunchable", r"300000 bytes of shared memory"),
    "far_write": ("crashed", ILLEGAL),
    "far_read": ("crashed", ILLEGAL),
    "misaligned": ("crashed", r"CUDA_ERROR_MISALIGNED_ADDRESS"),
    "trap": ("crashed", r"CUDA_ERROR_(LAUNCH_FAILED|ILLEGAL_INSTRUCTION)"),
    "assertion": ("crashed", r"CUDA_ERROR_ASSERT"),
    "infinite_loop": ("timed_out", HUNG),
    "deadlock": ("timed_out", HUNG),
    "wrong_row": ("wrong_result", r"greatest error"),
    "nan": ("wrong_result", r"2 output values are NaN"),
    "near_read": ("wrong_result", r"output values are NaN"),
    "stray_write": ("wrong_result", r"wrote 2 bytes outside the output tensor"),
    "over_inputs": ("wrong_result", r"wrote into its inputs"),
    "late_crash": ("crashed", ILLEGAL),
}
MOST_HUNG_MS = 1000 * WATCHDOG_S + 1000
MOST_SLOWER = 1.25


def finding_of_failure(entry):
    outcome, pattern = EXPECTED[fault_of(entry)]
    found = finding(entry, outcome, pattern)
    if not found and outcome == "timed_out":
        late = int(re.search(pattern, entry["detail"])[1]) > MOST_HUNG_MS
        return f"must be noticed within {MOST_HUNG_MS} ms" if late else ""
    return found


def check_failures(problem):
    rows = [["fault", "outcome", "finding", "message"]]
    for entry in problem["failures"]:
        rows.append([fault_of(entry), entry["outcome"], finding_of_failure(entry) or "ok", entry["detail"]])
    print_table(rows)
    found = {row[0] for row in rows[1:]}
    wrong = [row[0] for row in rows[1:] if row[2] != "ok"]
    return wrong + [f"{fault}: not among the failures" for fault in EXPECTED.keys() - found]


def check_ranking(problem, alone):
    good = [entry["config"] for entry in alone["ranking"]]
    with_faults = [entry["config"] for entry in problem["ranking"]]
    times = {entry["config"]: entry["time_us"] for entry in alone["ranking"]}
    rows = [["config", "alone us", "among faults us"]]
    rows += [[entry["config"], f"{times.get(entry['config'], 0):.1f}", f"{entry['time_us']:.1f}"]
             for entry in problem["ranking"]]
    print_table(rows)
    if with_faults != good or len(good) != 3:
        return [f"the ranking is {with_faults}, alone {good}"]
    return [f"{config} has another time" for config, _, us in rows[1:]
            if not 1 / MOST_SLOWER < float(us) / times[config] < MOST_SLOWER]


def check(options, more):
    alone, alone_s = sweep_family(options, "good", more)
    problem, seconds = sweep_family(options, "faulty", more)
    print(f"{seconds:.1f} s, the good ones alone {alone_s:.1f} s")
    return check_failures(problem) + check_ranking(problem, alone)


if __name__ == "__main__":
    check_strategies(__doc__, check)

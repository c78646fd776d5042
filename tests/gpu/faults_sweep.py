#!/usr/bin/env python3
"""Sweeps tests/families/faulty on a GPU: every kernel must get the outcome that it deserves, with a
message that helps, and those that are right must rank as they do alone.

Needs nothing but Python: faults_sweep.py --fatune build/ci/bin/fatune --family tests/families/faulty
"""

import argparse
import re
import sys
import tempfile

from sweep_tools import Sweep, print_table, skip_without_gpu

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
WATCHDOG_S = 2
MOST_HUNG_MS = 1000 * WATCHDOG_S + 1000
MOST_SLOWER = 1.25


def sweep(options, space, more):
    shape = ["--seq", "512", "--batch", "2", "--heads", "4", "--no-db"]
    report, seconds = Sweep(options.fatune,
                            ["--kernel-dir", options.family, "--space", space] + shape + more,
                            {"FATUNE_WATCHDOG_S": str(WATCHDOG_S)}).result()
    assert report["complete"], "the sweep is not complete"
    return report["problems"][0], seconds


def fault_of(entry):
    return re.match(r"\(FP16, 64, (\w+)\)", entry["config"])[1]


def finding(entry):
    """What is wrong with an outcome; nothing when it is as it should be."""
    outcome, pattern = EXPECTED[fault_of(entry)]
    if entry["outcome"] != outcome:
        return f"must be {outcome}"
    said = re.search(pattern, entry["detail"])
    if not said:
        return f"must say {pattern}"
    if outcome == "timed_out" and int(said[1]) > MOST_HUNG_MS:
        return f"must be noticed within {MOST_HUNG_MS} ms"
    return ""


def check_failures(problem):
    rows = [["fault", "outcome", "finding", "message"]]
    for entry in problem["failures"]:
        rows.append([fault_of(entry), entry["outcome"], finding(entry) or "ok", entry["detail"]])
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


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--fatune", required=True, help="the program")
    parser.add_argument("--family", required=True, help="the folder tests/families/faulty")
    options = parser.parse_args()
    skip_without_gpu(options.fatune)
    wrong = []
    with tempfile.TemporaryDirectory() as cache:
        for more in (["--strategy", "race"], ["--strategy", "exhaustive", "--repeats", "20"]):
            more = more + ["--cache-dir", cache]
            alone, alone_s = sweep(options, "good", more)
            problem, seconds = sweep(options, "faulty", more)
            print(f"\n{more[1]}: {seconds:.1f} s, the good ones alone {alone_s:.1f} s")
            wrong += check_failures(problem) + check_ranking(problem, alone)
    print("\nwrong:", "; ".join(wrong) if wrong else "nothing")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()

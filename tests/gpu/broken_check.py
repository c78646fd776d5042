#!/usr/bin/env python3
"""Checks tests/families/broken_flash on a GPU. 'fatune check' must find each mistake in flash_sm80
wherever it has an effect, in O or in the log-sum-exp, and must find nothing wrong with the kernel
without a mistake. If compute-sanitizer is installed, its racecheck must find exactly the races.

Needs only Python: broken_check.py --fatune build/ci/bin/fatune --family tests/families/broken_flash
"""

import argparse
import json
import re
import subprocess
import sys
from collections import defaultdict

from sweep_tools import print_table, skip_without_gpu

FAILED_OUTCOMES = 6
RACES = {"missing_barrier"}  # may not show in one run, but must with one of the seeds
PROBLEMS = {
    "small": ["--small"],
    "small, causal": ["--small", "--causal"],
    "ragged": ["--seq", "500", "--batch", "1", "--heads", "2"],
    "ragged, causal": ["--seq", "500", "--batch", "1", "--heads", "2", "--causal"],
    "full": ["--heads", "4"],
}
SEEDS = 3
# Mistakes in the log-sum-exp, and the text of the finding. O is right.
LSE_FAULTS = {
    "none": "",
    "lse_base_2": r"lse: greatest error",
    "lse_without_maximum": r"lse: greatest error",
    "lse_not_written": r"lse: \d+ output values are NaN, infinite or were never written",
    "lse_past_end": r"lse: wrote 4 bytes outside the output tensor",
}
RACE_FAULTS = {"missing_barrier", "missing_wait"}
NOT_INSTALLED = "compute-sanitizer, which --sanitizer needs, is not installed"


def fault_of(config):
    return re.search(r", (\w+)\):", config)[1]


def check(options, arguments):
    """Returns the rows that check prints, or None if a tool that it needs is not installed."""
    command = [options.fatune, "check", "--quiet", "--format", "json", "--kernel-dir",
               options.family] + arguments
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if NOT_INSTALLED in done.stderr:
        return None
    if done.returncode != FAILED_OUTCOMES:
        sys.exit(f"{' '.join(command)} ended with {done.returncode}, "
                 f"not {FAILED_OUTCOMES}: {done.stderr.strip()}")
    return json.loads(done.stdout)["checks"]


def outcomes(checks):
    """Returns for each configuration the seeds, and the findings of the seeds with something wrong."""
    found = defaultdict(lambda: (set(), {}))
    for row in checks:
        seeds, wrong = found[row["config"]]
        seeds.add(row["seed"])
        if row["outcome"] != "right":
            wrong.setdefault(row["seed"], f"{row['outcome']}: {row['detail']}")
    return found


def verdict(fault, seeds, wrong):
    if fault == "none":
        return "ok" if not wrong else "must be right"
    needed = 1 if fault in RACES else len(seeds)
    return "ok" if len(wrong) >= needed else "MISSED"


def check_problems(options):
    failures = []
    for problem, arguments in PROBLEMS.items():
        rows = [[problem, "wrong in", "verdict", "said first"]]
        checks = check(options, ["--seeds", str(SEEDS)] + arguments)
        for config, (seeds, wrong) in sorted(outcomes(checks).items()):
            said = verdict(fault_of(config), seeds, wrong)
            rows.append([config, f"{len(wrong)} of {len(seeds)}", said,
                         next(iter(wrong.values()), "")])
            if said != "ok":
                failures.append(f"{problem}: {config}: {said}")
        print_table(rows)
        print()
    return failures


def check_log_sum_exps(options):
    failures = []
    for problem, arguments in PROBLEMS.items():
        rows = [[f"log-sum-exp, {problem}", "output", "outcome", "said"]]
        for row in check(options, ["--space", "lse", "--lse"] + arguments):
            said = row["detail"] or ""
            expected = LSE_FAULTS[fault_of(row["config"])] if row["output"] == "lse" else ""
            right = bool(re.search(expected, said)) if expected else row["outcome"] == "right"
            rows.append([row["config"], row["output"], row["outcome"], said])
            if not right:
                failures.append(f"log-sum-exp, {problem}: {row['config']}: {row['output']}: "
                                f"{row['outcome']}: {said}")
        print_table(rows)
        print()
    return failures


def check_races(options):
    checks = check(options, ["--sanitizer", "racecheck", "--space", "one_each"])
    if checks is None:
        print("no compute-sanitizer: races were not looked for\n")
        return []
    failures = []
    rows = [["racecheck", "outcome", "said"]]
    for row in (row for row in checks if row["tool"]):
        expected = "flagged" if fault_of(row["config"]) in RACE_FAULTS else "right"
        # A wrong output under the tool does not count as a race.
        right = row["outcome"] == expected or (expected == "right" and not row["findings"])
        rows.append([row["config"], row["outcome"], row["detail"] or ""])
        if not right:
            failures.append(f"racecheck: {row['config']}: {row['outcome']}, not {expected}")
    print_table(rows)
    print()
    return failures


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--fatune", required=True, help="the program")
    parser.add_argument("--family", required=True, help="the folder tests/families/broken_flash")
    options = parser.parse_args()
    skip_without_gpu(options.fatune)
    failures = check_problems(options) + check_log_sum_exps(options) + check_races(options)
    print("wrong:", "; ".join(failures) if failures else "nothing")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()

"""Tests that the estimate before compilation orders the configurations of flash_sm90 as the recorded GPUs do.

estimate_correlation_test.py FATUNE ESTIMATE_CORRELATION H100_TIMES H200_RESULTS H200_SPACE
"""
import re
import subprocess
import sys

LEAST_CORRELATION = 0.82
MOST_BEHIND_PERCENT = 3.0


def compared(fatune, script, recorded, space):
    """Returns the correlation over recorded configurations, and how far the lowest estimate is behind, by problem."""
    done = subprocess.run([sys.executable, script, recorded, "--fatune", fatune, "--before-compilation", "--family",
                           "flash_sm90", "--space", space, "--arch", "sm_90a"],
                          stdout=subprocess.PIPE, text=True, check=True)
    rows = re.findall(r"^ +(-?[\d.]+) +\S+ +[\d.]+ +([\d.]+) %  dtype (.*)$", done.stdout, re.MULTILINE)
    return {problem: (float(correlation), float(behind)) for correlation, behind, problem in rows}


def main():
    fatune, script, h100_times, h200_results, h200_space = sys.argv[1:]
    for recorded, space, problems in ((h100_times, "tune", 13), (h200_results, h200_space, 2)):
        rows = compared(fatune, script, recorded, space)
        assert len(rows) == problems, rows
        for problem, (correlation, behind) in rows.items():
            assert correlation >= LEAST_CORRELATION, (problem, correlation)
            assert behind <= MOST_BEHIND_PERCENT, (problem, behind)


if __name__ == "__main__":
    main()

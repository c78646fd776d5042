"""Tests that the estimate before compilation orders configurations as the recorded GPUs do.

estimate_correlation_test.py FATUNE ESTIMATE_CORRELATION H100_TIMES H100_SPACE H200_RESULTS H200_SPACE H100_DECODE_TIMES
"""
import re
import statistics
import subprocess
import sys

LEAST_CORRELATION = 0.82
MOST_BEHIND_PERCENT = 3.0
LEAST_MEDIAN_OF_DECODING = 0.78
MOST_BEHIND_OF_DECODING_PERCENT = 24.0


def compared(fatune, script, recorded, space, family="flash_sm90"):
    """Returns the correlation over recorded configurations, and how far the lowest estimate is behind, by problem."""
    done = subprocess.run([sys.executable, script, recorded, "--fatune", fatune, "--before-compilation", "--family",
                           family, "--space", space, "--arch", "sm_90a"],
                          stdout=subprocess.PIPE, text=True, check=True)
    rows = re.findall(r"^ +(-?[\d.]+) +\S+ +[\d.]+ +([\d.]+) %  dtype (.*)$", done.stdout, re.MULTILINE)
    return {problem: (float(correlation), float(behind)) for correlation, behind, problem in rows}


def main():
    fatune, script, h100_times, h100_space, h200_results, h200_space, h100_decode_times = sys.argv[1:]
    for recorded, space, problems in ((h100_times, h100_space, 12), (h200_results, h200_space, 2)):
        rows = compared(fatune, script, recorded, space)
        assert len(rows) == problems, rows
        for problem, (correlation, behind) in rows.items():
            assert correlation >= LEAST_CORRELATION, (problem, correlation)
            assert behind <= MOST_BEHIND_PERCENT, (problem, behind)
    rows = compared(fatune, script, h100_decode_times, "tune", "flash_decode")
    assert len(rows) == 250, len(rows)
    assert statistics.median(correlation for correlation, _ in rows.values()) >= LEAST_MEDIAN_OF_DECODING
    behind = sorted(behind for _, behind in rows.values())
    assert behind[-1] <= MOST_BEHIND_OF_DECODING_PERCENT, behind[-1]
    assert behind[9 * len(behind) // 10] <= 4.0, behind


if __name__ == "__main__":
    main()

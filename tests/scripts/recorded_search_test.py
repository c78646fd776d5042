"""Tests searches of a space of 2,212 configurations, all of which were measured on an H200, for two problems. The
default search of large spaces finds one within 1 % of the fastest after trying 5 % of the space, for 9 of 10 seeds.

recorded_search_test.py FATUNE RECORDED
"""
import csv
import io
import lzma
import subprocess
import sys
import tempfile
from pathlib import Path

from read_back import expect_read_back

CONFIGS = 2212
PROBLEMS = 2
MOST_PERCENT_OF_SPACE = 5.0
MOST_PERCENT_BEHIND = 1.0


def replayed(fatune, results, search, seeds):
    done = subprocess.run([fatune, "sweep", "--simulate", results, "--search", search, "--seeds", str(seeds), "--format",
                           "csv"], stdout=subprocess.PIPE, text=True, check=True)
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    assert [int(row["configs"]) for row in rows] == [CONFIGS] * PROBLEMS, rows
    return rows


def the_model_is_close_early(fatune, results):
    for row in replayed(fatune, results, "model", 10):
        assert float(row["tried_9_of_10_percent"]) <= MOST_PERCENT_OF_SPACE, row
        assert float(row["behind_9_of_10_percent"]) <= MOST_PERCENT_BEHIND, row


def chance_is_not(fatune, results):
    for row in replayed(fatune, results, "random", 10):
        assert float(row["tried_9_of_10_percent"]) > MOST_PERCENT_OF_SPACE, row


def main():
    fatune, recorded = sys.argv[1:]
    with tempfile.TemporaryDirectory() as name:
        results = Path(name) / "results.json"
        results.write_bytes(lzma.decompress(Path(recorded).read_bytes()))
        expect_read_back(fatune, results)
        the_model_is_close_early(fatune, results)
        chance_is_not(fatune, results)


if __name__ == "__main__":
    main()

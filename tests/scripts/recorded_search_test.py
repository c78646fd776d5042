"""Tests searches of spaces all of whose configurations were measured on an H200: 2,212 of flash_sm90, for two problems, and
560 of flash_sm80, for one problem in each file. 5 % of the space suffice the model to find one within 1 % of the fastest, for
9 of 10 seeds; of flash_sm80, whose estimates know less, the default search ends with one.

recorded_search_test.py FATUNE RECORDED_SM90 RECORDED_SM80...
"""
import csv
import io
import lzma
import subprocess
import sys
import tempfile
from pathlib import Path

from read_back import expect_read_back

CONFIGS = {"flash_sm90": [2212, 2212], "flash_sm80": [560]}  # of each problem
MOST_PERCENT_OF_SPACE = 5.0
MOST_PERCENT_BEHIND = 1.0


def replayed(fatune, results, family, search, seeds):
    done = subprocess.run([fatune, "sweep", "--simulate", results, "--search", search, "--seeds", str(seeds), "--format",
                           "csv"], stdout=subprocess.PIPE, text=True, check=True)
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    assert [int(row["configs"]) for row in rows] == CONFIGS[family], rows
    return rows


def the_model_is_close_early(fatune, results):
    for row in replayed(fatune, results, "flash_sm90", "model", 10):
        assert float(row["tried_9_of_10_percent"]) <= MOST_PERCENT_OF_SPACE, row
        assert float(row["behind_9_of_10_percent"]) <= MOST_PERCENT_BEHIND, row


def chance_is_not(fatune, results):
    for row in replayed(fatune, results, "flash_sm90", "random", 10):
        assert float(row["tried_9_of_10_percent"]) > MOST_PERCENT_OF_SPACE, row


def the_default_ends_close(fatune, results):
    for row in replayed(fatune, results, "flash_sm80", "auto", 20):
        assert int(row["ended_close"]) >= 18, row


def with_recorded(recorded, check):
    with tempfile.TemporaryDirectory() as name:
        results = Path(name) / "results.json"
        results.write_bytes(lzma.decompress(Path(recorded).read_bytes()))
        check(results)


def main():
    fatune, of_sm90, *of_sm80 = sys.argv[1:]

    def check_sm90(results):
        expect_read_back(fatune, results)
        the_model_is_close_early(fatune, results)
        chance_is_not(fatune, results)

    with_recorded(of_sm90, check_sm90)
    assert of_sm80
    for recorded in of_sm80:
        with_recorded(recorded, lambda results: the_default_ends_close(fatune, results))


if __name__ == "__main__":
    main()

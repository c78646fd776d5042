"""Tests `fatune compare` with twenty pairs of runs of the same kernels on an H200. In 19 pairs it finds nothing faster
or slower at a tolerance of 0, and in none at the default. It finds a kernel that really became slower.

recorded_pairs_test.py FATUNE RECORDED
"""
import csv
import io
import json
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from read_back import expect_read_back

RUNS = 40
MOST_WRONG = 1
WORSE = 12  # ExitCode::worse


def moved(fatune, old, new, *options):
    """Returns what is faster or slower beyond doubt, and whether a configuration is slower."""
    done = subprocess.run([fatune, "compare", old, new, *options, "--format", "csv"], stdout=subprocess.PIPE, text=True)
    assert done.returncode in (0, WORSE), done
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    assert len(rows) == 64, len(rows)
    return [row for row in rows if row["verdict"] in ("faster", "slower")], done.returncode == WORSE


def nothing_moves_by_itself(fatune, folder):
    wrong = []
    for first in range(1, RUNS, 2):
        pair = folder / f"{first:02}.json", folder / f"{first + 1:02}.json"
        changes, _ = moved(fatune, *pair, "--tolerance", "0")
        wrong += [(first, row["config"], row["slower_percent"]) for row in changes[:1]]
        changes, is_worse = moved(fatune, *pair)
        assert not changes and not is_worse, changes
    assert len(wrong) <= MOST_WRONG, wrong
    return len(wrong)


def a_slower_kernel_is_found(fatune, folder):
    run = json.loads((folder / "02.json").read_text())
    ranking = run["problems"][0]["ranking"]
    slower = ranking[0]["config"]
    for name in ("time_us", "mean_us", "min_us", "max_us", "median_low_us", "median_high_us"):
        ranking[0][name] *= 1.1
    ranking[0]["samples_us"] = [1.1 * us for us in ranking[0]["samples_us"]]
    (folder / "slower.json").write_text(json.dumps(run))
    changes, is_worse = moved(fatune, folder / "01.json", folder / "slower.json")
    assert is_worse
    assert [(row["verdict"], row["config"]) for row in changes] == [("slower", slower)], changes


def main():
    fatune, recorded = sys.argv[1:]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with tarfile.open(recorded) as archive:
            archive.extractall(folder)
        for run in range(1, RUNS + 1):
            expect_read_back(fatune, folder / f"{run:02}.json")
        wrong = nothing_moves_by_itself(fatune, folder)
        a_slower_kernel_is_found(fatune, folder)
    print(f"20 pairs, {wrong} with a change that is none")


main()

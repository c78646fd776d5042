"""Shared code of these scripts, with only Python's standard library: sweeps, tables, broken kernels."""

import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

SKIPPED = 77  # CTest's SKIP_RETURN_CODE


def skip_without_gpu(fatune):
    """Ends the script, with the reason, if fatune finds no usable GPU."""
    found = subprocess.run([fatune, "devices", "--format", "json"], capture_output=True, text=True,
                           check=True)
    report = json.loads(found.stdout)
    if not any(device["usable"] for device in report["devices"]):
        print("skipped: no usable GPU:", report["driver"])
        sys.exit(SKIPPED)


class Sweep:
    """A running sweep with JSON output. It prints into files, because a full pipe would block it."""

    def __init__(self, fatune, arguments, environment=None):
        self.out = tempfile.TemporaryFile("w+", encoding="utf-8")
        self.err = tempfile.TemporaryFile("w+", encoding="utf-8")
        self.start = time.monotonic()
        command = [fatune, "sweep", "--require-gpu", "--quiet", "--format", "json"] + arguments
        self.process = subprocess.Popen(command, stdout=self.out, stderr=self.err,
                                        env={**os.environ, **(environment or {})})

    def runs_for(self, seconds):
        """Waits. Returns False if the sweep has ended before."""
        try:
            self.process.wait(seconds)
            return False
        except subprocess.TimeoutExpired:
            return True

    def kill(self):
        self.process.kill()
        self.process.wait()

    def result(self):
        """Returns what the sweep printed, and how long it took. Ends the script if the sweep failed."""
        code = self.process.wait()
        seconds = time.monotonic() - self.start
        self.out.seek(0)
        self.err.seek(0)
        if code != 0:
            sys.exit(f"the sweep ended with {code}: {self.err.read().strip()}")
        return json.load(self.out), seconds


def print_table(rows):
    """Prints rows of text below the first one, which is the heading."""
    rows = [[str(cell) for cell in row] for row in rows]
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip(), flush=True)


def broken_copy(kernels, family, folder, file, old, new, times=1):
    """Copies a family with one change, to text that occurs so often. Returns the copy's folder. file: in the family's
    folder, or "../common/NAME": then the family has a copy of its own, which it includes in place of the shared one"""
    copy = pathlib.Path(folder) / family
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(pathlib.Path(kernels) / family, copy)
    path = copy / pathlib.Path(file).name
    if file.startswith("../common/"):
        shutil.copy(pathlib.Path(kernels) / family / file, path)
        for header in copy.glob("*.cu*"):
            includes = header.read_text(encoding="utf-8")
            header.write_text(includes.replace(f'"common/{path.name}"', f'"{family}/{path.name}"'), encoding="utf-8")
    text = path.read_text(encoding="utf-8")
    if text.count(old) != times:
        sys.exit(f"{file} has '{old}' {text.count(old)} times, not {times}: this script is out of date")
    path.write_text(text.replace(old, new), encoding="utf-8")
    return str(copy)


# --- Families in which every kernel fails in its own way: tests/families/{faulty,cheats} ---

WATCHDOG_S = 2


def sweep_family(options, space, more):
    """Returns the only problem of a sweep of a space, and how long the sweep took."""
    arguments = ["--kernel-dir", options.family, "--space", space, "--seq", "512", "--batch", "2",
                 "--heads", "4", "--no-db"]
    report, seconds = Sweep(options.fatune, arguments + more,
                            {"FATUNE_WATCHDOG_S": str(WATCHDOG_S)}).result()
    assert report["complete"], "the sweep is not complete"
    return report["problems"][0], seconds


def fault_of(entry):
    """Returns the fault in the configuration's short form."""
    return re.match(r"\(FP16, 64, (\w+)\)", entry["config"])[1]


def finding(entry, outcome, pattern):
    """Returns what is wrong with an outcome, or an empty text if it is as expected."""
    if entry["outcome"] != outcome:
        return f"must be {outcome}"
    return "" if re.search(pattern, entry["detail"]) else f"must say {pattern}"


def check_strategies(description, check):
    """Ends the program with what `check(options, more)` finds wrong in sweeps with either strategy."""
    parser = argparse.ArgumentParser(description=description.split("\n", maxsplit=1)[0])
    parser.add_argument("--fatune", required=True, help="the program")
    parser.add_argument("--family", required=True, help="the family's folder, in tests/families")
    options = parser.parse_args()
    skip_without_gpu(options.fatune)
    wrong = []
    with tempfile.TemporaryDirectory() as cache:
        for more in (["--strategy", "race"], ["--strategy", "exhaustive", "--repeats", "20"]):
            print(f"\n{more[1]}:")
            wrong += check(options, more + ["--cache-dir", cache])
    print("\nwrong:", "; ".join(wrong) if wrong else "nothing")
    sys.exit(1 if wrong else 0)


def report_on_broken(fatune, copy_arguments, command, arguments):
    """Runs the program on a broken_copy() of a family. Returns the report, of right and of wrong configurations. Ends
    the script for any other exit code. command: its words; arguments: what stands behind --kernel-dir"""
    right_or_wrong = (0, 6)
    kernels, family, file, old, new, times = copy_arguments
    with tempfile.TemporaryDirectory() as folder:
        copy = broken_copy(kernels, family, folder, file, old, new, times)
        line = [fatune, *command, "--kernel-dir", copy, "--quiet", "--format", "json", *arguments]
        done = subprocess.run(line, capture_output=True, text=True, check=False)
    if done.returncode not in right_or_wrong:
        sys.exit(f"'{' '.join(line)}' ended with {done.returncode}: {done.stderr.strip()}")
    return json.loads(done.stdout)

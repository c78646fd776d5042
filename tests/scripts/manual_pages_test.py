"""Tests manual pages as `cmake --install` installs them: mandoc finds nothing wrong, and each has the contents of the
help. Skipped (77) if mandoc (scripts/setup --shells) is missing.

usage: manual_pages_test.py FATUNE BUILD_FOLDER CMAKE
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from script_modules import run_tests
from wheel_folder import skip

FATUNE, BUILD, CMAKE = sys.argv[1:]
if not shutil.which("mandoc"):
    skip("no mandoc; see scripts/setup --shells")


def said(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def lines_of_help(text):
    """Returns the names of options or commands that a help text lists."""
    return re.findall(r"^  (?:-\w, )?(--?[\w-]+|[a-z][\w-]+)", text.split("\nExamples:")[0], re.M)


class ManualPages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.prefix = pathlib.Path(folder.name)
        said(CMAKE, "--install", BUILD, "--prefix", folder.name)
        cls.pages = sorted((cls.prefix / "share/man/man1").iterdir())

    def test_mandoc_finds_nothing_wrong(self):
        done = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", *self.pages], capture_output=True, text=True,
                              check=False)
        self.assertEqual((done.stdout, done.returncode), ("", 0))

    def test_mandoc_would_find_what_is_wrong(self):
        bad = self.prefix / "bad.1"
        bad.write_text(".TH BAD 1\n.SH NAME\nbad\n.XX\n")
        self.assertNotEqual(subprocess.run(["mandoc", "-T", "lint", "-W", "warning", bad], capture_output=True,
                                           check=False).returncode, 0)

    def test_each_command_has_a_page_with_all_that_its_help_lists(self):
        names = {page.name for page in self.pages}
        self.assertLess({"fatune.1", "fatune-sweep.1", "fatune-sass-map.1", "fatune-completion.1"}, names)
        self.assertFalse({"fatune-man.1", "fatune-worker.1"} & names)
        for page in self.pages:
            with self.subTest(page=page.name):
                shown = re.sub(r".\x08", "", said("mandoc", "-T", "utf8", page))
                commands = re.search(r"SYNOPSIS\n +fatune ((?:[a-z][\w-]* )*)", shown)[1].split()
                self.assertEqual(page.name, "-".join(["fatune", *commands]).replace("_", "-") + ".1")
                for name in lines_of_help(said(FATUNE, *commands, "--help-all")):
                    self.assertIn(name, shown)
                self.assertIn("EXIT STATUS", shown)

    def test_many_options_are_in_groups(self):
        shown = re.sub(r".\x08", "", said("mandoc", "-T", "utf8", self.prefix / "share/man/man1/fatune-sweep.1"))
        places = [shown.find(f"\n   {title}\n") for title in ("Problem", "Kernels", "Device", "Measuring", "Search",
                                                              "Store", "Output", "Fleets", "General")]
        self.assertEqual(places, sorted(places))
        self.assertNotIn(-1, places)

    def test_pages_that_are_named_are_there(self):
        names = {page.name for page in self.pages}
        for page in self.pages:
            for name in re.findall(r"\\fB(\S+)\\fR\(1\)", page.read_text()):
                self.assertIn(name.replace("\\-", "-") + ".1", names)

    def test_examples_are_those_of_the_help(self):
        shown = re.sub(r".\x08", "", said("mandoc", "-T", "utf8", self.prefix / "share/man/man1/fatune-sass-diff.1"))
        for line in said(FATUNE, "sass", "diff", "--help").split("Examples:\n")[1].splitlines():
            self.assertIn(line.strip(), shown)

    def test_completions_are_installed_where_shells_look(self):
        for file, shell in [("bash-completion/completions/fatune", "bash"), ("zsh/site-functions/_fatune", "zsh"),
                            ("fish/vendor_completions.d/fatune.fish", "fish")]:
            self.assertEqual((self.prefix / "share" / file).read_text(), said(FATUNE, "completion", shell))

    def test_pages_are_the_same_each_time(self):
        said(FATUNE, "man", self.prefix / "again")
        for page in self.pages:
            self.assertEqual(page.read_text(), (self.prefix / "again" / page.name).read_text())


run_tests()

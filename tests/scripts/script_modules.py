"""Makes the modules of scripts/lib importable, and runs a test program's tests."""
import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts" / "lib"))


class FolderTest(unittest.TestCase):
    """A test with a folder of its own, which is deleted afterwards."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)


def run_tests():
    """Runs the tests. The program's arguments are its own, not unittest's."""
    unittest.main(argv=sys.argv[:1])

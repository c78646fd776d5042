"""Tests that CONTRIBUTING.md's table of rooms agrees with src/CMakeLists.txt about what each folder may include, and that
the files that it names exist."""
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def layers():
    text = (ROOT / "src/CMakeLists.txt").read_text(encoding="utf-8")
    rows = re.search(r"set\(FATUNE_LAYERS(.*?)\)", text, re.DOTALL)[1]
    return {name: set(included.split()) for name, included in re.findall(r'"(\w+):([\w ]*)"', rows)}


def rooms():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    found = re.findall(r"^\| `src/(\w+)` \| .* \| ([\w, ]+) \|$", text, re.MULTILINE)
    nothing = "nothing of fatune"
    return {name: set() if said == nothing else set(said.split(", ")) for name, said in found}


class RoomsTable(unittest.TestCase):
    def test_says_what_each_room_may_include(self):
        self.assertIn(len(layers()), range(10, 17))
        self.assertEqual(rooms(), layers())

    def test_has_every_folder(self):
        folders = {path.parent.name for path in ROOT.glob("src/*/CMakeLists.txt")}
        self.assertEqual(set(layers()), folders)
        text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
        self.assertEqual(set(re.findall(r"^\| `src/(\w+)` \|", text, re.MULTILINE)),
                         {path.name for path in ROOT.glob("src/*") if path.is_dir()})

    def test_names_files_that_are_there(self):
        text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
        paths = set(re.findall(r"`((?:src|tests|scripts|kernels|configs|docs)/[\w./-]+)`", text))
        self.assertGreater(len(paths), 40)
        self.assertEqual(sorted(path for path in paths if not (ROOT / path).exists()), [])


if __name__ == "__main__":
    unittest.main()

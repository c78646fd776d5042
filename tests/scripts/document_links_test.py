"""Tests the links between documents: each names a file that exists, and a heading if it has a fragment."""
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
FENCED = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)


def documents():
    folders = (ROOT, ROOT / "docs", ROOT / "kernels", ROOT / "tests")
    found = {path for folder in folders for path in folder.glob("*.md")}
    return sorted(found | set(ROOT.glob("kernels/*/*.md")) | set(ROOT.glob("tests/*/README.md")))


def anchor(heading):
    """The anchor that GitHub makes: lower case, without punctuation, with a hyphen for each blank."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def anchors(path):
    headings = re.findall(r"^#+ (.*)$", FENCED.sub("", path.read_text()), re.MULTILINE)
    return {anchor(heading) for heading in headings}


def links(path):
    text = FENCED.sub("", path.read_text())
    return [link for link in re.findall(r"\]\(([^)\s]+)\)", text) if "://" not in link]


class DocumentLinks(unittest.TestCase):
    def test_lead_to_files_and_headings(self):
        for document in documents():
            for link in links(document):
                with self.subTest(document=str(document.relative_to(ROOT)), link=link):
                    name, _, fragment = link.partition("#")
                    target = document.parent / name if name else document
                    self.assertTrue(target.exists(), "no such file")
                    if fragment:
                        self.assertIn(fragment, anchors(target))

    def test_are_found(self):
        self.assertGreater(sum(len(links(document)) for document in documents()), 50)


if __name__ == "__main__":
    unittest.main()

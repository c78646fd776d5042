"""Tests SVGs of random plots: they are well-formed, have valid numbers, fit the view box, and contain no scripts.

svg_plots_test.py PLOT_SAMPLES
"""
import math
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from pathlib import Path

COUNT = 1500
NUMBER = r"-?\d+(?:\.\d+)?"
SVG = "{http://www.w3.org/2000/svg}"
ELEMENTS = {"svg", "g", "path", "circle", "rect", "text", "title", "desc", "style"}
ATTRIBUTES = {"class", "role", "aria-labelledby", "viewBox", "id", "d", "cx", "cy", "r", "x", "y", "width", "height",
              "text-anchor", "transform", "data-row", "data-name", "data-x", "data-top", "data-bottom"}
OF_TEXT = {"class", "id", "aria-labelledby", "data-name"}
EDGE = 5.0  # half a mark may lie outside


def path_points(path):
    """Returns the points that a path of M, L, H, V, m, l, h, v and z visits."""
    x = y = 0.0
    for command, rest in re.findall(r"([MLHVmlhvz])([^MLHVmlhvz]*)", path):
        numbers = [float(number) for number in re.findall(NUMBER, rest)]
        if command in "HhVv":
            assert len(numbers) == 1, path
            step = (numbers[0], 0.0) if command in "Hh" else (0.0, numbers[0])
            if command.isupper():
                x, y = (numbers[0], y) if command == "H" else (x, numbers[0])
            else:
                x, y = x + step[0], y + step[1]
            yield x, y
            continue
        assert len(numbers) % 2 == 0 and (numbers or command == "z"), path
        for i in range(0, len(numbers), 2):
            x, y = (numbers[i], numbers[i + 1]) if command.isupper() else (x + numbers[i], y + numbers[i + 1])
            yield x, y


def text_points(element):
    """Returns where a text begins and ends, with 0.6 of its size per character. Slanted texts go down to the left."""
    x, y = float(element.get("x")), float(element.get("y"))
    size = 15 if "title" in element.get("class").split() else 12 if "tick" not in element.get("class") else 11
    shown = element.text or ""
    if element.find(SVG + "title") is not None:
        shown = element.find(SVG + "title").tail or ""
    width = 0.6 * size * len(shown) if all(ord(c) < 0x800 for c in shown) else 0.0
    if element.get("transform"):
        yield from [(x, y), (x - width * math.sqrt(0.5), y + width * math.sqrt(0.5))]
        return
    left = {"middle": x - width / 2, "end": x - width}.get(element.get("text-anchor"), x)
    yield from [(left, y), (left + width, y)]


def points_of(element):
    kind = element.tag.removeprefix(SVG)
    if kind == "path":
        yield from path_points(element.get("d"))
    elif kind == "circle":
        yield float(element.get("cx")), float(element.get("cy"))
    elif kind == "rect":
        x, y = float(element.get("x")), float(element.get("y"))
        yield from [(x, y), (x + float(element.get("width")), y + float(element.get("height")))]
    elif kind == "text":
        yield from text_points(element)


def check_element(element, width, height, shift=(0.0, 0.0)):
    assert element.tag.removeprefix(SVG) in ELEMENTS, element.tag
    for name, value in element.attrib.items():
        assert name in ATTRIBUTES, name
        assert name in OF_TEXT or not re.search(r"nan|inf|e[+-]\d", value), (name, value)
    moved = re.fullmatch(rf"translate\(({NUMBER}) ({NUMBER})\)", element.get("transform", ""))
    if moved:
        shift = (shift[0] + float(moved[1]), shift[1] + float(moved[2]))
    for x, y in points_of(element):
        x, y = x + shift[0], y + shift[1]
        assert -EDGE <= x <= width + EDGE and -EDGE <= y <= height + EDGE, (element.attrib, x, y, width, height)
    for child in element:
        check_element(child, width, height, shift)


def check(file):
    root = ElementTree.parse(file).getroot()
    view_box = re.fullmatch(rf"0 0 ({NUMBER}) ({NUMBER})", root.get("viewBox"))
    check_element(root, float(view_box[1]), float(view_box[2]))
    assert len(root.findall(SVG + "title")) == 1 and len(root.findall(SVG + "desc")) == 1
    assert len(root.findall(SVG + "style")) == 1


def problems_of(file):
    try:
        check(file)
    except (AssertionError, ElementTree.ParseError) as problem:
        yield f"{file.name}: {problem}"


def main():
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.argv[1], folder, str(COUNT)], check=True)
        files = sorted(Path(folder).glob("*.svg"))
        assert len(files) > COUNT, len(files)
        problems = [problem for file in files for problem in problems_of(file)]
    print(*problems[:10], f"{len(files)} files, {len(problems)} with problems", sep="\n")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

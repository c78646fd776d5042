"""Tests reports in headless Chromium: figures at every width, filters, sorting, brushes, keyboard, printing and
accessibility, also without JavaScript. Nothing may be fetched, and nothing printed on the console.

usage: report_browser_test.py FATUNE FAKE_CUDA FAKE_WORKER WHEELS [--screenshots DIR | REPORT.html...]

Makes reports, or uses the named ones. --screenshots makes pictures and PDFs to look at, and runs no tests. Selenium and
axe-core are installed from PyPI into the folder WHEELS. Skipped (77) if these or Chromium (scripts/setup --browser) are
missing.
"""
import functools
import pathlib
import re
import sys
import tempfile
import unittest

from chromium import AXE_TAGS, DESKTOP_PX, PHONE_PX, Chromium, count_pages
from report_pages import reports_in
from script_modules import run_tests

PROGRAMS, WHEELS, GIVEN = sys.argv[1:4], sys.argv[4], sys.argv[5:]
SCHEMES = ("light", "dark")

BAD_PAGE = """<!DOCTYPE html><html lang="en"><head><title>Bad</title></head><body><main><h1>Bad</h1>
<div style="width: 3000px">wide</div><img src="http://127.0.0.1:9/missing.png">
<figure id="empty"></figure><figure id="small"><div class="scroll" style="width: 100px"><svg viewBox="0 0 720 100"
width="600" height="80"><text y="20" font-size="8">small</text></svg></div></figure><script>console.info("said")</script></main></body></html>"""

# [number, [text of each cell], is out, is laid out] of each row of the table, in its present order.
READ_ROWS = """
return [...document.querySelectorAll("#rows tbody tr")].map((row) => [
  row.dataset.row, [...row.cells].map((cell) => cell.textContent.trim()), row.classList.contains("out"),
  row.getClientRects().length > 0]);
"""
READ_COLUMNS = "return [...document.querySelectorAll('#rows thead th')].map((head) => [head.textContent.trim(), head.dataset.kind]);"
# [row, is out] of each mark.
READ_MARKS = "return [...document.querySelectorAll('svg [data-row]')].map((one) => [one.dataset.row, one.classList.contains('out')]);"
# [y, row] of the vertices on an axis of a parallel plot, and the brush's [top, bottom], in the plot's units.
READ_AXIS = """
const [plot, axis] = [document.querySelector("svg.parallel"), arguments[0]];
const box = plot.querySelectorAll(".axis")[axis].querySelector(".selection");
const [y, height] = ["y", "height"].map((name) => Number(box.getAttribute(name)));
const vertices = [...plot.querySelectorAll(".line[data-row]")].map((line) =>
  [Number(line.getAttribute("d").match(/[\\d.]+,[\\d.]+/g)[axis].split(",")[1]), line.dataset.row]);
return [vertices, [y, y + height]];
"""
NEXT_FRAME = """
const done = arguments[arguments.length - 1];
requestAnimationFrame(() => requestAnimationFrame(() => done()));
"""


def number_of(text):
    return None if text in ("", "-") else float(text)


def is_label_of(label, text):
    """Long texts are shortened."""
    return text.startswith(label[:-1]) if label.endswith("…") else text == label


class Page:
    """The table of configurations and its filters, as a user sees them."""

    def __init__(self, chromium):
        self.chromium = chromium
        self.driver, self.run = chromium.driver, chromium.run
        self.columns = self.run(READ_COLUMNS)
        self.cells = {row: cells for row, cells, _, _ in self.run(READ_ROWS)}

    def settle(self):
        self.driver.execute_async_script(NEXT_FRAME)

    def kept(self):
        self.settle()
        return {row for row, _, out, _ in self.run(READ_ROWS) if not out}

    def column(self, legend):
        return [name for name, _ in self.columns].index(legend)

    def rows_where(self, legend, holds):
        index = self.column(legend)
        return {row for row, cells in self.cells.items() if holds(cells[index])}

    def click(self, element):
        """Clicks an element with the mouse, after making it visible."""
        self.reveal(element)
        element.click()

    def reveal(self, element):
        self.run("for (let one = arguments[0]; one; one = one.parentElement) if (one.tagName === 'DETAILS') one.open = true;"
                 "arguments[0].scrollIntoView({block: 'center'})", element)

    def find(self, selector):
        return self.driver.find_elements("css selector", selector)

    def press(self, key):
        from selenium.webdriver import ActionChains
        ActionChains(self.driver).send_keys(key).perform()

    def filters(self, input_type):
        """Returns (legend, inputs) of the filters that have inputs of this type."""
        sets = [(one, one.find_elements("css selector", f"input[type={input_type}]")) for one in self.find("#filters fieldset")]
        return [(self.run("return arguments[0].querySelector('legend').textContent", one), inputs)
                for one, inputs in sets if inputs]

    def reset(self):
        button = [one for one in self.find("#filters button") if one.get_property("textContent") == "Reset"]
        self.click(button[0])

    def brushes(self):
        """Returns the number of brushes in the first parallel plot."""
        return self.run("return document.querySelector('svg.parallel')?.querySelectorAll('.overlay').length ?? 0")

    def drag_on_axis(self, axis):
        """Drags a brush over the upper half of an axis. Returns the rows whose lines pass through it."""
        from selenium.webdriver import ActionChains
        overlay = self.find("svg.parallel .overlay")[axis]
        self.reveal(overlay)
        height = overlay.rect["height"]
        ActionChains(self.driver, duration=20).move_to_element_with_offset(overlay, 0, int(-height / 2 + 2)) \
            .click_and_hold().move_by_offset(0, int(height / 4)).move_by_offset(0, int(height / 4)).release().perform()
        vertices, (top, bottom) = self.run(READ_AXIS, axis)
        return {row for y, row in vertices if top <= y <= bottom}


def each_report(test):
    """Runs a test of one report for all reports. None may print or fetch anything, or run text that it was given."""
    @functools.wraps(test)
    def of_all(self):
        for name, path in self.reports.items():
            with self.subTest(report=name):
                self.chromium.open(path)
                test(self, path)
                self.assertEqual([], self.chromium.messages())
                self.assertEqual([path.absolute().as_uri()], self.chromium.requests())
                self.assertIsNone(self.chromium.run("return window.__hostile ?? null"))
    return of_all


def each_table(test):
    """Runs a test of a Page for all reports that show configurations."""
    @each_report
    @functools.wraps(test)
    def of_all(self, _):
        page = Page(self.chromium)
        if len(page.cells) > 1:
            test(self, page)
    return of_all


class ReportInBrowser(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(temporary.cleanup)
        cls.folder = pathlib.Path(temporary.name)
        cls.reports = reports_in(cls.folder, PROGRAMS, GIVEN)
        cls.chromium = Chromium(WHEELS)
        cls.addClassCleanup(cls.chromium.quit)

    def setUp(self):
        self.chromium.set_javascript(True)
        self.chromium.set_width(DESKTOP_PX)
        self.chromium.set_scheme("light")

    def test_the_checks_find_what_is_wrong(self):
        bad = self.folder / "bad.html"
        bad.write_text(BAD_PAGE)
        self.chromium.open(bad)
        self.assertTrue(any("said" in message for message in self.chromium.messages()))
        self.assertIn("http://127.0.0.1:9/missing.png", self.chromium.requests())
        self.assertEqual(["empty"], self.chromium.bad_figures())
        self.assertEqual(["small: small letters", "small: too wide"], self.chromium.unreadable_figures())
        self.assertEqual("page", self.chromium.too_wide()[0])
        self.assertTrue(any(problem.startswith("image-alt") for problem in self.chromium.accessibility_problems()))

    @each_report
    def test_figures_are_seen_and_nothing_is_too_wide(self, _):
        for width in (PHONE_PX, DESKTOP_PX):
            self.chromium.set_width(width)
            self.assertEqual([], self.chromium.bad_figures(), width)
            self.assertEqual([], self.chromium.unreadable_figures(), width)
            self.assertEqual([], self.chromium.too_wide(), width)

    @each_report
    def test_winners_are_read_without_scrolling_sideways(self, _):
        """At the top of a narrow page: what the times are, the sentence, and the table of winners before the contents."""
        self.chromium.set_width(PHONE_PX)
        wide = self.chromium.run("return [...document.querySelectorAll('.stacked td')].filter((cell) =>"
                                 " cell.getBoundingClientRect().right > document.documentElement.clientWidth).length")
        self.assertEqual(0, wide)
        tops = self.chromium.run("return ['.lead', '.stacked', 'nav'].map((one) =>"
                                 " document.querySelector(one).getBoundingClientRect().top)")
        self.assertEqual(tops, sorted(tops))

    @each_report
    def test_is_accessible(self, _):
        """Checks every rule at both widths and in both schemes, and in the other two pairs the rules about colours."""
        for width, scheme, rules in ((PHONE_PX, "light", AXE_TAGS), (DESKTOP_PX, "dark", AXE_TAGS),
                                     (PHONE_PX, "dark", ["color-contrast"]), (DESKTOP_PX, "light", ["color-contrast"])):
            self.chromium.set_width(width)
            self.chromium.set_scheme(scheme)
            self.assertEqual([], self.chromium.accessibility_problems(rules), (width, scheme))

    @each_report
    def test_schemes_differ(self, _):
        lightness = []
        for scheme in SCHEMES:
            self.chromium.set_scheme(scheme)
            colour = self.chromium.run("return getComputedStyle(document.body).backgroundColor")
            lightness.append(sum(map(int, re.findall(r"\d+", colour)[:3])))
        self.assertGreater(lightness[0], 3 * 200)
        self.assertLess(lightness[1], 3 * 60)

    @each_report
    def test_is_complete_without_javascript(self, path):
        self.chromium.set_javascript(False)
        self.chromium.open(path)
        self.assertEqual([], self.chromium.bad_figures())
        rows = self.chromium.run(READ_ROWS)
        self.assertEqual(path.read_text(encoding="utf-8").count("<tr data-row="), len(rows))
        self.assertTrue(all(laid_out for _, _, _, laid_out in rows))
        self.assertEqual([], self.chromium.run("return [...document.querySelectorAll('#filters *')]"))

    @each_report
    def test_is_printed(self, path):
        pdf = self.chromium.pdf()
        self.assertTrue(pdf.startswith(b"%PDF"))
        self.assertGreater(count_pages(pdf), 1)
        if path.stem != "hostile":  # its names are long
            self.assertLess(count_pages(pdf), 25)

    def expect_kept(self, page, rows):
        """Checks that exactly these rows are kept, and their marks in all figures."""
        self.assertEqual(rows, page.kept())
        self.assertEqual(f"{len(rows)} of {len(page.cells)} configurations",
                         page.run("return document.getElementById('shown').textContent"))
        wrong = [(row, out) for row, out in page.run(READ_MARKS) if out == (row in rows)]
        self.assertEqual([], wrong[:5])

    def expect_all_after_reset(self, page):
        page.reset()
        self.expect_kept(page, set(page.cells))

    @each_table
    def test_checkboxes_filter(self, page):
        for legend, boxes in page.filters("checkbox")[:2]:
            texts = [page.run("return arguments[0].parentElement.textContent", box) for box in boxes]
            for count in (1, 2):
                page.click(boxes[count - 1])
                self.expect_kept(page, page.rows_where(
                    legend, lambda text: any(is_label_of(label, text) for label in texts[:count])))
            self.expect_all_after_reset(page)
            self.assertFalse(boxes[0].is_selected())

    @each_table
    def test_limits_filter(self, page):
        for legend, (least, most) in page.filters("number")[:2]:
            index = page.column(legend)
            values = sorted({number_of(cells[index]) for cells in page.cells.values()} - {None})
            middle = values[len(values) // 2]
            for limit, holds in ((least, lambda number: number >= middle), (most, lambda number: number == middle)):
                page.reveal(limit)
                limit.send_keys(repr(middle))
                self.expect_kept(page, page.rows_where(
                    legend, lambda text: number_of(text) is not None and holds(number_of(text))))
            self.expect_all_after_reset(page)
            self.assertEqual("", least.get_property("value"))

    @each_table
    def test_brushes_filter_together(self, page):
        axes = page.brushes()
        if axes < 2:
            return
        first = page.drag_on_axis(axes - 1)
        self.expect_kept(page, first)
        second = page.drag_on_axis(0)
        self.expect_kept(page, first & second)
        self.expect_all_after_reset(page)

    def test_there_is_something_to_filter(self):
        for path in self.reports.values():
            self.chromium.open(path)
            page = Page(self.chromium)
            if page.brushes() > 1 and page.filters("checkbox") and page.filters("number"):
                return
        self.fail("no report has filters and brushes")

    @each_table
    def test_headers_sort(self, page):
        index = [kind for _, kind in page.columns].index("number")
        for direction, sign in (("ascending", 1), ("descending", -1)):
            page.click(page.find("#rows thead th button")[index])
            self.assertEqual(direction, page.find("#rows thead th")[index].get_attribute("aria-sort"))
            numbers = [number_of(cells[index]) for _, cells, _, _ in page.run(READ_ROWS)]
            self.assertEqual(numbers, sorted(numbers, key=lambda number: (number is None, sign * (number or 0))))

    def focus_by_tab(self, page, selector):
        """Presses the Tab key until an element that matches the selector has the focus."""
        for _ in range(200):
            page.press("\ue004")
            if page.run("return document.activeElement.matches(arguments[0])", selector):
                return
        self.fail(f"the Tab key does not reach {selector}")

    @each_table
    def test_keyboard(self, page):
        self.focus_by_tab(page, "#rows th button")
        page.press("\ue007")
        self.assertEqual("ascending", page.find("#rows thead th")[0].get_attribute("aria-sort"))
        self.focus_by_tab(page, "#rows tbody tr")
        page.press("\ue015")
        self.assertEqual(1, page.run("return [...document.querySelectorAll('#rows tbody tr')].indexOf(document.activeElement)"))
        row = page.run("return document.activeElement.dataset.row")
        hot = page.run("return [...document.querySelectorAll('svg .hot')].map((one) => one.dataset.row)")
        marks = [one for one, _ in page.run(READ_MARKS) if one == row]
        self.assertEqual(marks, hot)

    @each_table
    def test_marks_select_rows(self, page):
        from selenium.webdriver import ActionChains
        for mark in page.find("svg [data-row]:not(.line)")[:1]:
            page.reveal(mark)
            ActionChains(page.driver, duration=20).move_to_element(mark).click().perform()
            chosen = page.run("return document.activeElement.closest('#rows tr')?.classList.contains('hot') ?? false")
            self.assertTrue(chosen)


def take_screenshots(to):
    to = pathlib.Path(to)
    to.mkdir(parents=True, exist_ok=True)
    chromium = Chromium(WHEELS)
    for name, path in reports_in(to, PROGRAMS, GIVEN).items():
        chromium.open(path)
        (to / f"{name}.pdf").write_bytes(chromium.pdf())
        for width in (PHONE_PX, DESKTOP_PX):
            for scheme in SCHEMES:
                chromium.set_width(width)
                chromium.set_scheme(scheme)
                (to / f"{name}-{width}-{scheme}.png").write_bytes(chromium.screenshot())
    chromium.quit()


if GIVEN[:1] == ["--screenshots"]:
    SCREENSHOTS, *GIVEN = GIVEN[1:]
    take_screenshots(SCREENSHOTS)
else:
    run_tests()

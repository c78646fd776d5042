"""Headless Chromium, and what it reports about a page: messages, requests, figures, overflow, accessibility."""
import base64
import json
import pathlib
import re
import shutil
import subprocess

from wheel_folder import bring_wheels, skip

PHONE_PX, DESKTOP_PX = 400, 1600
HEIGHT_PX = 1000
# axe-core takes seconds for thousands of similar rows and marks, so it gets only the first ones.
ALIKE_FOR_AXE = 20
AXE_TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"]

# Figures whose drawing or table has no size after everything folded is opened.
BAD_FIGURES = """
for (const one of document.querySelectorAll("details")) one.open = true;
const has_size = (one) => one.getBoundingClientRect().width > 0 && one.getBoundingClientRect().height > 0;
return [...document.querySelectorAll("figure")]
  .filter((figure) => ![...figure.querySelectorAll("svg, table")].some(has_size))
  .map((figure) => figure.id || figure.textContent.slice(0, 60));
"""
# Elements that extend over the page's right edge and are not inside something that scrolls.
TOO_WIDE = """
const edge = document.documentElement.clientWidth;
if (document.documentElement.scrollWidth <= edge) return [];
const wide = [...document.body.querySelectorAll("*")].filter((one) => one.getBoundingClientRect().right > edge + 1);
return ["page", ...wide.slice(0, 5).map((one) => one.outerHTML.slice(0, 80))];
"""
# Figures with letters of less than 9 pixels, and those that are wider than the room they have. Parallel axes may be.
UNREADABLE_FIGURES = """
for (const one of document.querySelectorAll("details")) one.open = true;
const bad = [];
for (const svg of document.querySelectorAll("figure .scroll > svg")) {
  const box = svg.getBoundingClientRect();
  if (box.width === 0) continue;
  const scale = box.width / svg.viewBox.baseVal.width;
  const small = [...svg.querySelectorAll("text")].some((text) => parseFloat(getComputedStyle(text).fontSize) * scale < 9);
  const wide = box.width > svg.parentElement.clientWidth + 1;
  const id = svg.closest("figure").id;
  if (small) bad.push(id + ": small letters");
  if (wide && !svg.classList.contains("parallel")) bad.push(id + ": too wide");
}
return bad;
"""
RUN_AXE = """
const [rules, alike, done] = arguments;
for (const one of document.querySelectorAll("tbody, svg")) {
  for (const more of [...one.querySelectorAll("tr, [data-row]")].slice(alike)) more.remove();
}
axe.run({runOnly: rules, resultTypes: ["violations"], preload: false})
  .then((found) => done(found.violations.flatMap((rule) =>
    rule.nodes.map((node) => `${rule.id}: ${node.target} ${node.failureSummary}`.slice(0, 400)))),
        (error) => done([String(error)]));
"""


def find_chromium():
    """Returns the paths of Chromium and its driver, which have the same version. Skips the test if one is missing.
    Ubuntu's packages of these names only ask for snap."""
    browser, driver = shutil.which("chromium"), shutil.which("chromedriver")
    for program in (browser, driver):
        if not program or subprocess.run([program, "--version"], capture_output=True, check=False).returncode != 0:
            skip("no chromium and chromedriver; see scripts/setup --browser")
    return browser, driver


class Chromium:
    """One window. `wheels`: the folder for Selenium and axe-core. It can reach only files."""

    def __init__(self, wheels):
        browser, driver = find_chromium()
        folder = bring_wheels(wheels, ["selenium==4.51.0"], files_only=["axe-playwright-python==0.1.8"])
        self.axe = (folder / "axe_playwright_python/axe.min.js").read_text(encoding="utf-8")
        from selenium import webdriver  # installed in the folder
        options = webdriver.ChromeOptions()
        options.binary_location = browser
        options.unhandled_prompt_behavior = "ignore"  # a dialog is an error
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        for argument in ("headless=new", "disable-dev-shm-usage", "disable-background-networking",
                         "disable-component-update", "host-resolver-rules=MAP * ~NOTFOUND",
                         "force-prefers-reduced-motion", "disable-gpu", "no-sandbox"):  # containers forbid it
            options.add_argument(f"--{argument}")
        self.driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
        self.run = self.driver.execute_script
        self.say = self.driver.execute_cdp_cmd

    def quit(self):
        self.driver.quit()

    def open(self, page):
        """Loads the file, and drops the messages and requests of the previous one."""
        self.driver.get("about:blank")
        self.messages(), self.requests()
        self.driver.get(pathlib.Path(page).absolute().as_uri())

    def set_width(self, width_px):
        self.say("Emulation.setDeviceMetricsOverride",
                 {"width": width_px, "height": HEIGHT_PX, "deviceScaleFactor": 1, "mobile": False})

    def set_scheme(self, scheme):
        self.say("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]})

    def set_javascript(self, enabled):
        self.say("Emulation.setScriptExecutionDisabled", {"value": not enabled})

    def messages(self):
        """Returns the console's messages since the last call."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def requests(self):
        """Returns the requested addresses since the last call."""
        events = [json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")]
        return [event["params"]["request"]["url"] for event in events if event["method"] == "Network.requestWillBeSent"]

    def bad_figures(self):
        return self.run(BAD_FIGURES)

    def unreadable_figures(self):
        return self.run(UNREADABLE_FIGURES)

    def too_wide(self):
        return self.run(TOO_WIDE)

    def accessibility_problems(self, rules=AXE_TAGS):
        """Runs axe-core. `rules` are tags or names of rules. Afterwards, most of the page's rows and marks are gone."""
        if not self.run("return typeof axe === 'object'"):
            self.run(self.axe)
        self.driver.set_script_timeout(120)
        return self.driver.execute_async_script(RUN_AXE, rules, ALIKE_FOR_AXE)

    def pdf(self):
        return base64.b64decode(self.say("Page.printToPDF", {"printBackground": True})["data"])

    def screenshot(self):
        """Returns the whole page as PNG."""
        return base64.b64decode(self.say("Page.captureScreenshot", {"captureBeyondViewport": True})["data"])


def count_pages(pdf):
    return len(re.findall(rb"/Type\s*/Page\b", pdf))

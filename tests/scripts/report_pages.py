"""Reports made by fatune, for tests of the page."""
import json
import os
import pathlib
import subprocess

from script_modules import ROOT

SHIPPED = ROOT / "configs/tuned/nvidia-h200.json"
# The fake worker's times, by a part of the configuration's name.
SCRIPT = {"us": {"64, 64, 4": 120.0, "128, 64, 4": 100.0, "64, 32, 4": 140.0, "load_2": 111.0}, "noise_percent": 1.0,
          "seed": 7, "wrong": {"load_0_2_2": "off by 3"}}
MARKUP = "<script>window.__hostile=1</script><img src=http://127.0.0.1:9/x onerror='window.__hostile=2'>"
HOSTILE = [
    MARKUP,
    "\"'><svg onload=\"window.__hostile=3\">",
    "</style></title></script><script>window.__hostile=4</script>",
    "javascript:alert(5)//]]>--><!--<script>",
    "\u202egnp.exe\u2066 \u0000 \u0001\u001b[31m \ufffe",
    MARKUP + "long " * 20000,
]


class Reports:
    """Runs fatune in `folder`, with the fake GPU."""

    def __init__(self, folder, fatune, fake_cuda, fake_worker):
        self.folder, self.program = pathlib.Path(folder), fatune
        self.environment = {**os.environ, "HOME": str(folder), "FATUNE_LIBCUDA": fake_cuda,
                            "FATUNE_WORKER": fake_worker, "FATUNE_FAKE_WORKER": json.dumps(SCRIPT)}
        self.environment.pop("XDG_DATA_HOME", None)

    def fatune(self, *arguments):
        done = subprocess.run([self.program, *map(str, arguments)], capture_output=True, text=True, check=False,
                              env=self.environment, cwd=self.folder)
        if done.returncode != 0:
            raise AssertionError(f"{arguments}: {done.stderr[-2000:]}")

    def sweep(self, name, *options):
        self.fatune("sweep", "--space", "prog", "--dtype", "fp16", "--out", self.folder / name, *options)
        return self.folder / name / "results.json"

    def page_of(self, name, *results):
        page = self.folder / f"{name}.html"
        self.fatune("report", *results, "--out", page)
        return page

    def all(self):
        """Returns the pages by name: shipped results, a run without a GPU, two measured runs, and a hostile one."""
        estimated = self.sweep("estimated", "--device", "none", "--seq", "1024,2048")
        measured = [self.sweep(f"measured_{seq}", "--seq", seq) for seq in ("512,1024", "2048")]
        hostile = self.folder / "hostile<img src=x onerror=alert(1)>\".json"
        hostile.write_text(hostile_text(measured[0]))
        return {"shipped": self.page_of("shipped", SHIPPED), "estimated": self.page_of("estimated", estimated),
                "measured": self.page_of("measured", *measured), "hostile": self.page_of("hostile", hostile)}


# Texts of a run that can be arbitrary. fatune must be able to read everything else.
FREE_TEXTS = {"command_line", "config", "detail", "driver", "family", "kernel_name", "method", "name", "nvrtc",
              "sentinel", "space", "winner"}


def hostile_text(results):
    """Returns the run with hostile texts in place of arbitrary ones, and with hostile parameters."""
    numbers = {}

    def hostile(text):
        """Returns the same hostile text for the same text."""
        number = numbers.setdefault(text, len(numbers))
        return f"{number} {HOSTILE[number % len(HOSTILE)]}"

    def changed(value, key=None):
        if isinstance(value, list):
            return [changed(one, key) for one in value]
        if not isinstance(value, dict):
            return hostile(value) if isinstance(value, str) and key in FREE_TEXTS else value
        copy = {name: changed(one, name) for name, one in value.items()}
        if key == "parameters":
            copy |= {hostile("parameter"): hostile(f"value {len(numbers) % 3}"), hostile("number"): len(numbers)}
        return copy

    return json.dumps(changed(json.loads(pathlib.Path(results).read_text(encoding="utf-8"))))


def reports_in(folder, programs, given):
    """Returns pages by name: the given ones, or else pages that `programs` (fatune, the fake CUDA, the fake worker)
    make in `folder`."""
    paths = [pathlib.Path(one) for one in given]
    return {path.stem: path for path in paths} or Reports(folder, *programs).all()

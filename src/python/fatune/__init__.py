"""fatune from Python: each call runs the program once and returns its JSON.

Keyword arguments are the options of the command line, with "_" for "-": seq_kv=512 is --seq-kv=512, a list is joined by
commas, True is an option without a value, and None and False leave it out. The program checks them.
"""
import json
from typing import Dict

from ._program import FatuneError, Option, Result, Word, program, run_program
from ._results import load, load_lines, records, to_dataframe

__all__ = ["FatuneError", "Option", "Result", "Word", "load", "load_lines", "predict", "program", "records",
           "run_command", "sweep", "to_dataframe", "version"]


def run_command(*words: Word, **options: Option) -> Result:
    """Runs a command that has --format json: run_command("compare", "old.json", "new.json", tolerance=1)."""
    result: Result = json.loads(run_program(words, {"format": "json", **options}))
    return result


def sweep(*words: Word, **options: Option) -> Result:
    """Runs `fatune sweep`, and returns the whole run, as results.json has it."""
    return run_command("sweep", *words, **options)


def predict(*words: Word, **options: Option) -> Result:
    """Runs `fatune predict`: which configuration is chosen for a problem, tuned or not."""
    return run_command("predict", *words, **options)


def version() -> Dict[str, str]:
    """Returns what `fatune --version` says, such as {"fatune": "0.1.0", "commit": ...}."""
    lines = run_program(["--version"], {}).splitlines()
    return {name: value for name, _, value in (line.partition(" ") for line in lines)}

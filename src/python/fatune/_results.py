"""Reads what fatune writes: documents, lines, and the results of a run as records."""
import importlib
import json
import os
import pathlib
import tempfile
from typing import Any, Dict, List, Mapping, Union

from ._program import Option, Result, Word, run_program

Run = Union[Word, Mapping[str, Any]]


def load(path: Union[str, "os.PathLike[str]"]) -> Result:
    """Returns the document in a JSON file: results.json, best_configs.json, or any other."""
    result: Result = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
    return result


def load_lines(path: Union[str, "os.PathLike[str]"]) -> List[Result]:
    """Returns the objects in a file of --format jsonl."""
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.strip()]


def records(run: Run, filter: str = "rank > 0", **options: Option) -> List[Dict[str, Any]]:
    """Returns the results of a run as `fatune show` does, one for each problem and configuration.

    `run` is what sweep() has returned, a file of results, the number of a stored run, or "last". `options` are those of
    `fatune show`, such as columns and sort. `filter` leaves out configurations without a rank, unless it is another.
    """
    if not isinstance(run, Mapping):
        return _records(run, filter, options)
    with tempfile.TemporaryDirectory(prefix="fatune") as folder:
        file = pathlib.Path(folder) / "results.json"
        file.write_text(json.dumps(run), encoding="utf-8")
        return _records(file, filter, options)


def _records(run: Word, condition: str, options: Dict[str, Option]) -> List[Dict[str, Any]]:
    shown = run_program(["show", run], {"format": "json", "filter": condition, **options})
    found: List[Dict[str, Any]] = json.loads(shown)["records"]
    return found


def to_dataframe(run: Run, filter: str = "rank > 0", **options: Option) -> Any:
    """Returns records() as a pandas.DataFrame. Its columns are those of the program's CSV."""
    try:
        pandas = importlib.import_module("pandas")
    except ImportError as error:
        raise ImportError("fatune.to_dataframe() needs pandas: pip install pandas") from error
    return pandas.DataFrame(records(run, filter, **options))

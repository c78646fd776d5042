"""Finds fatune's program and runs it."""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import threading
from typing import Any, Dict, Iterable, List, Optional, Tuple, Union

Word = Union[str, int, float, "os.PathLike[str]"]
Option = Union[None, bool, Word, Iterable[Word]]
Result = Dict[str, Any]

_INSTALLED_IN = (1, 4)  # the folders above this file that may have bin/: pip's --target, and prefixes


class FatuneError(Exception):
    """The program has ended with an exit code other than 0. The message is what it wrote to standard error."""

    def __init__(self, exit_code: int, message: str, result: Optional[Result] = None) -> None:
        super().__init__(message or f"fatune has ended with exit code {exit_code}")
        self.exit_code = exit_code
        self.result = result  # the JSON that it printed all the same, if any


def program() -> str:
    """Returns the path of the program that was installed with this module, or else of the one on the PATH."""
    folders = pathlib.Path(__file__).absolute().parents
    for candidate in [*(str(folders[i] / "bin" / "fatune") for i in _INSTALLED_IN if i < len(folders)), "fatune"]:
        found = shutil.which(candidate)
        if found:
            return found
    raise FileNotFoundError("the program fatune is neither beside the module fatune nor on the PATH: "
                            "install fatune's wheel")


def run_program(words: Iterable[Word], options: Dict[str, Option]) -> str:
    """Returns what the program writes to standard output. What it writes to standard error is passed on at once."""
    code, printed, message = _run([program(), *map(_text, words), *_option_words(options)])
    if code != 0:
        raise FatuneError(code, message.strip(), _result_in(printed))
    return printed


def _result_in(printed: str) -> Optional[Result]:
    try:
        result: Result = json.loads(printed)
        return result
    except ValueError:
        return None


def _option_words(options: Dict[str, Option]) -> List[str]:
    words = []
    for name, value in options.items():
        option = "--" + name.rstrip("_").replace("_", "-")
        if value is True:
            words.append(option)
        elif value is not None and value is not False:
            words.append(f"{option}={_value_text(value)}")
    return words


def _value_text(value: Union[Word, Iterable[Word]]) -> str:
    if isinstance(value, Iterable) and not isinstance(value, str):
        return ",".join(_text(one) for one in value)
    return _text(value)


def _text(word: Word) -> str:
    return os.fspath(word) if isinstance(word, os.PathLike) else str(word)


def _run(command: List[str]) -> Tuple[int, str, str]:
    """Returns the exit code, and what was written to standard output and to standard error. An interrupt is sent to the
    program, which writes its results and ends, and is raised then. The program counts signals that come together, from
    here and from the terminal, as one."""
    message: List[str] = []
    interrupt = None
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          encoding="utf-8", errors="replace") as process:
        assert process.stdout and process.stderr
        passing_on = threading.Thread(target=_pass_on, args=(process.stderr, message), daemon=True)
        passing_on.start()
        printed = None
        while printed is None:
            try:
                printed = process.stdout.read()
            except KeyboardInterrupt as seen:  # Popen.wait() would raise it too late to count as the terminal's
                interrupt = seen
                process.send_signal(signal.SIGINT)
        passing_on.join()
    if interrupt:
        raise interrupt
    return process.returncode, printed, "".join(message)


def _pass_on(lines: Iterable[str], message: List[str]) -> None:
    for line in lines:
        message.append(line)
        sys.stderr.write(line)
        sys.stderr.flush()

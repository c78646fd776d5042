#!/usr/bin/env python3
"""Gives fatune files that somebody hostile has made: kernel folders, results, stores, bundles, caches, fatune.toml.

usage: hostile_runs.py FATUNE KERNEL_FOLDER [--runs N] [--seed S] [--keep FOLDER]

Each run changes one good file at random, and runs a command on it. Whatever it holds, the command must end within
its time with a documented exit code, must not call it a bug in fatune, must write only where it was told to, and must
not pass control characters on to a terminal. Prints the runs that did not, and how to repeat them.
"""
import argparse
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

LIMIT_S = 60
EXIT_CODES = {*range(2, 15), 0, 130}  # all but 1, a bug
RAW = re.compile("[\x00-\x08\x0b-\x1f\x7f\x80-\x9f\u202a-\u202e\u2066-\u2069]")
TEXTS = ["", " ", "\x1b[31mred\x1b[0m", "\u202egnp.exe", "<img src=x onerror=alert(1)>", "| a | b |", "`x`\n# heading",
         "]]>", "a\x00b", "\r\x08\x08", "../../../victim", "/proc/self/environ", "$(touch victim)", "a;touch victim;#",
         "%s%n%n", "{0}{1}", "\ud800", "x" * 100_000, "-" * 50, "--time=victim", "nan", "1e999", "1/0", "(" * 5000, "[" * 100_000,
         "seq_len " * 2000, "if(1,2,3)", "FP16", "true"]
NUMBERS = [0, -1, 1, 2**31 - 1, 2**31, 2**32, 2**63 - 1, -(2**63), 2**64, 1e308, -1e308, 5e-324, 0.1, 1e-9]


def hostile_value(random_):
    nested = []
    for _ in range(random_.choice([1, 3, 400])):
        nested = [nested]
    return random_.choice([random_.choice(TEXTS), random_.choice(TEXTS), random_.choice(NUMBERS), None, True, [], {},
                           nested])


def nodes(value, found):
    """Collects (container, key) of everything inside `value`."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        found.append((value, key))
        nodes(inner, found)
    return found


def change_json(path, random_):
    document = json.loads(path.read_text())
    for _ in range(random_.choice([1, 1, 1, 2, 5])):
        container, key = random_.choice(nodes(document, []))
        kind = random_.randrange(4)
        if kind == 0 and isinstance(container, dict):
            container[random_.choice(TEXTS)] = container.pop(key)
        elif kind == 1:
            del container[key]
        else:
            container[key] = hostile_value(random_)
    path.write_bytes(json.dumps(document).encode("utf-8", "surrogatepass"))


def change_bytes(path, random_):
    data = bytearray(path.read_bytes())
    for _ in range(random_.choice([1, 1, 10, 100])):
        at = random_.randrange(len(data)) if data else 0
        kind = random_.randrange(4)
        if kind == 0:
            del data[at:]
        elif kind == 1:
            data[at:at] = random_.choice(TEXTS).encode("utf-8", "surrogatepass")
        else:
            data[at:at + 1] = bytes([random_.randrange(256)])
    path.write_bytes(data)


def change_text_file(path, random_):
    random_.choice([change_json, change_bytes])(path, random_)


def change_toml(path, random_):
    name = random_.choice(["out", "best", "db", "seq", "space", "kernel-dir", "format", "filter", "dhead", "x"])
    path.write_bytes(f"{name} = {json.dumps(hostile_value(random_))}\n".encode("utf-8", "surrogatepass"))
    if random_.randrange(3) == 0:
        change_bytes(path, random_)


class Hostile:
    def __init__(self, fatune, kernel, folder):
        self.fatune = fatune
        self.folder = folder
        self.good = folder / "good"
        self.good.mkdir()
        shutil.copytree(kernel, self.good / "kernel")
        self.environment = {"HOME": str(folder / "home"), "PATH": "/usr/bin:/bin", "FATUNE_CONFIG_FILE": "none",
                            "TMPDIR": str(folder), "FATUNE_LIBCUDA": "/nonexistent"}
        for name in ("CUDA_HOME", "FATUNE_NVRTC"):
            if name in os.environ:
                self.environment[name] = os.environ[name]
        done = self.run(["sweep", "--kernel-dir", "kernel", *self.problem(), "--no-emulate", "--out", ".", "--db",
                         "store.db", "--cache-dir", "cache"], self.good)
        assert done.returncode == 0, done.stderr
        assert self.run(["cache", "export", "bundle.db", "--cache-dir", "cache"], self.good).returncode == 0
        (self.good / "fatune.toml").write_text("seq = 64\n")
        with (self.good / "victim").open("w") as victim:
            victim.write("precious")

    @staticmethod
    def problem():
        return ["--seq", "64", "--batch", "1", "--heads", "1", "--dtype", "fp16", "--dhead", "64", "--device", "none"]

    def run(self, arguments, folder):
        return subprocess.run([self.fatune, *arguments], cwd=folder, env=self.environment, capture_output=True,
                              stdin=subprocess.DEVNULL, timeout=LIMIT_S, check=False)

    def cases(self):
        """The file that is changed, how, and the commands that read it."""
        sweep = ["sweep", "--kernel-dir", "kernel", *self.problem(), "--no-emulate", "--no-db", "--cache-dir", "cache",
                 "--search", "random", "--max-configs", "1"]
        return [
            ("kernel/family.json", change_text_file, [["list", "--kernel-dir", "kernel"], sweep, sweep]),
            ("kernel/spaces/toy.json", change_text_file, [["list", "--kernel-dir", "kernel"], sweep]),
            ("kernel/toy_attention.cu", change_bytes, [sweep]),
            ("results.json", change_text_file,
             [["show", "results.json"], ["show", "results.json", "--format", "md"], ["report", "results.json", "--out",
              "out.html"], ["compare", "results.json", "best_configs.json"],
              ["show", "results.json", "--plot"]]),
            ("best_configs.json", change_text_file,
             [["predict", "--best", "best_configs.json", "--kernel-dir", "kernel", *self.problem()[:10]],
              ["export", "--best", "best_configs.json", "--kernel-dir", "kernel", "--format", "md"],
              ["report", "best_configs.json", "--out", "out.html"], ["verify-winner", "best_configs.json"]]),
            ("store.db", change_bytes,
             [["history", "--db", "store.db"], ["show", "last", "--db", "store.db"], ["report", "last", "--db",
              "store.db", "--out", "out.html"], ["merge", "store.db", "--db", "target.db"]]),
            ("bundle.db", change_bytes, [["cache", "import", "bundle.db", "--cache-dir", "new_cache"]]),
            ("cache", change_bytes, [sweep]),
            ("fatune.toml", change_toml, [["list", "--config-file", "fatune.toml", "--kernel-dir", "kernel"],
                                          ["show", "results.json", "--config-file", "fatune.toml"]]),
        ]

    def one(self, number, seed):
        """Returns the command, and what was wrong with it: nothing, if all was right."""
        random_ = random.Random(f"{seed}.{number}")
        name, change, commands = random_.choice(self.cases())
        folder = self.folder / "run"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(self.good, folder)
        path = folder / name
        if path.is_dir():
            path = random_.choice(sorted(file for file in path.rglob("*") if file.is_file()))
        change(path, random_)
        command = random_.choice(commands)
        try:
            done = self.run(command, folder)
        except subprocess.TimeoutExpired:
            return command, [f"did not end within {LIMIT_S} s"]
        return command, list(self.faults(done, folder, command))

    def faults(self, done, folder, command):
        out, err = (stream.decode("utf-8", "replace") for stream in (done.stdout, done.stderr))
        if done.returncode not in EXIT_CODES:
            yield f"exit code {done.returncode}: {err[-300:]!r}"
        if "internal error" in err:
            yield f"calls it a bug: {err[-300:]!r}"
        raw = RAW.search(err) or (None if "json" in command else RAW.search(out))
        if raw:
            yield f"passes on {raw.group()!r}: {raw.string[max(0, raw.start() - 60):raw.end() + 60]!r}"
        if (folder / "victim").read_text() != "precious" or (self.folder / "victim").exists():
            yield "wrote where it was not told to"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("fatune", type=pathlib.Path)
    parser.add_argument("kernel", type=pathlib.Path, help="a folder like tests/families/toy_attention")
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("--first", type=int, default=0, help="the number of the first run")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=pathlib.Path, help="leave the last run's files in this new folder")
    return parser.parse_args()


def main():
    options = arguments()
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        hostile = Hostile(options.fatune.resolve(), options.kernel.resolve(), folder)
        wrong = 0
        for number in range(options.first, options.first + options.runs):
            command, faults = hostile.one(number, options.seed)
            for fault in faults:
                print(f"run {number} (--seed {options.seed} --first {number} --runs 1 --keep DIR): "
                      f"fatune {' '.join(command)}\n  {fault}", flush=True)
            wrong += bool(faults)
        if options.keep:
            shutil.copytree(folder / "run", options.keep)
    print(f"{options.runs} hostile runs, {wrong} wrong")
    return 1 if wrong else 0


sys.exit(main())

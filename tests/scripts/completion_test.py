"""Tests what shells complete with the scripts of 'fatune completion'. Skipped (77) if zsh or fish
(scripts/setup --shells) is missing.

usage: completion_test.py FATUNE
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

from script_modules import FolderTest, run_tests
from wheel_folder import skip

FATUNE = sys.argv[1]
PATH = f"{pathlib.Path(FATUNE).parent}:{os.environ['PATH']}"  # the scripts ask the program

# The typed text up to the cursor, the completions that a shell must offer, and those that it must not.
EXPECTED = [
    ("fatune sw", {"sweep"}, {"show", "sweeps"}),
    ("fatune ", {"sweep", "verify-winner", "completion"}, {"man", "worker", "data.json"}),
    ("fatune sweep --dh", {"--dhead"}, {"--depth", "--heads"}),
    ("fatune sweep --no-c", {"--no-causal", "--no-cache"}, {"--causal"}),
    ("fatune sass ", {"diff", "map", "why"}, {"sweep"}),
    ("fatune sass map --ann", {"--annotate"}, set()),
    ("fatune sass --arch sm_80 di", {"diff"}, set()),
    ("fatune sweep --format ", {"table", "json", "csv", "md"}, {"data.json", "sweep"}),
    ("fatune sweep --space ", {"tune", "prog", "data.json"}, {"sweep"}),
    ("fatune sweep --space pro", {"prog", "progall"}, {"tune"}),
    ("fatune sweep --preset llama-3.1", {"llama-3.1-8b"}, {"gemma-2-9b"}),
    ("fatune check --sanitizer mem", {"memcheck"}, {"racecheck"}),
    ("fatune sweep --out ", {"results"}, {"data.json"}),
    ("fatune import ", {"data.json"}, {"sweep"}),
    ("fatune completion ", {"bash", "zsh", "fish"}, {"data.json"}),
    ("fatune show ", {"last", "data.json"}, {"sweep"}),
    ("fatune cases ", {"hopper", "data.json"}, {"sweep"}),
]

BASH = r"""source "$1"
words=$2
COMP_WORDS=($words)
if [[ $words == *' ' ]]; then COMP_WORDS+=(''); fi
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
_fatune
printf '%s\n' "${COMPREPLY[@]}"
"""
# Prints each completion, followed by a tab and its description.
FISH = r"""source $argv[1]
complete -C $argv[2]
"""
# Zsh completes only in its line editor, so it runs in its own terminal, where compadd prints what it is given.
ZSH = r"""zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell 'PS1= PS2= RPS1=; autoload -Uz compinit; compinit -u -D'
zpty -w shell 'compadd() {
  local -a found
  if [[ ${@[1,(i)(-|--)]} == *-(O|A|D)\ * ]]; then builtin compadd "$@"; return; fi
  builtin compadd -A found "$@"
  (( $#found )) && print -rl -- \<${^found}\>
  builtin compadd "$@"
}'
zpty -w shell 'zstyle ":completion:*" insert-tab no; source '$1
zpty -w shell 'comppostfuncs=(done_now); done_now() { print DO""NE; exit }'
zpty -w shell 'print REA""DY'
zpty -r -m shell said '*READY*'
zpty -w -n shell "$2"$'\t'
zpty -r -m shell said '*DONE*'
print -r -- "$said"
"""
SHELLS = {"bash": (BASH, ["--norc", "--noprofile"]), "zsh": (ZSH, ["-f"]), "fish": (FISH, ["--no-config"])}


def run(folder, *command):
    done = subprocess.run(command, cwd=folder / "here", capture_output=True, text=True, timeout=120, check=False,
                          env={"PATH": PATH, "HOME": str(folder), "TERM": "dumb", "LANG": "C.UTF-8"})
    if done.returncode != 0:
        raise AssertionError(f"{command} ends with {done.returncode}: {done.stderr}")
    return done.stdout


def offered(shell, folder, typed):
    """Returns what the shell offers for the last typed word, without what it would append."""
    program, options = SHELLS[shell]
    asking = folder / f"ask.{shell}"
    asking.write_text(program, encoding="utf-8")
    said = run(folder, shell, *options, asking, folder / f"fatune.{shell}", typed)
    words = re.findall("<([^<>]*)>", said) if shell == "zsh" else [line.split("\t")[0] for line in said.splitlines()]
    return {word.strip().rstrip("/=") for word in words}


class Completion(FolderTest):
    def setUp(self):
        super().setUp()
        (self.folder / "here" / "results").mkdir(parents=True)
        (self.folder / "here" / "data.json").touch()

    def check(self, shell, more):
        script = run(self.folder, FATUNE, "completion", shell)
        (self.folder / f"fatune.{shell}").write_text(script, encoding="utf-8")
        for typed, wanted, unwanted in EXPECTED + more:
            with self.subTest(typed=typed):
                words = offered(shell, self.folder, typed)
                self.assertLessEqual(wanted, words)
                self.assertFalse(unwanted & words, words)

    def test_bash(self):
        self.check("bash", [("fatune sweep --format = js", {"json"}, {"csv"}),
                            ("fatune sweep --dtype fp16,b", {"fp16,bf16"}, {"fp16,fp16"})])

    def test_zsh(self):
        self.check("zsh", [("fatune sweep --format=js", {"json"}, {"csv"}),
                           ("fatune sweep --causal --no-ca", {"--no-cache"}, {"--no-causal"}),
                           ("fatune sweep --dtype fp16,b", {"bf16"}, {"fp16"})])

    def test_fish(self):
        self.check("fish", [("fatune sweep --format=js", {"--format=json"}, {"--format=csv"}),
                            ("fatune sweep --dtype fp16,b", {"fp16,bf16"}, set())])

    def test_another_shell_is_an_error(self):
        done = subprocess.run([FATUNE, "completion", "csh"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("csh not in {bash,zsh,fish}", done.stderr)


MISSING = [shell for shell in SHELLS if not shutil.which(shell)]
if MISSING:
    skip(f"no {', '.join(MISSING)}; see scripts/setup --shells")
run_tests()

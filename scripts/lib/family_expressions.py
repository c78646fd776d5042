"""The expressions of family.json (docs/bring-your-own-kernel.md), evaluated on arrays of many problems and configurations.

src/plan/expression_tree.cpp and src/runtime/expression_math.hpp define the language."""
import functools
import re

import numpy as np

TOKEN = re.compile(r"\s*(?:(\d+\.?\d*(?:[eE][+-]?\d+)?)|([A-Za-z_]\w*)|(&&|\|\||[<>=!]=|[-+*/%^<>!?:(),]))")
# From the loosest: operators of one level are taken from the left.
LEVELS = (("||",), ("&&",), ("==", "!=", "<", "<=", ">", ">="), ("+", "-"), ("*", "/", "%"))
OPERATORS = {
    "||": lambda a, b: 1.0 * ((a != 0) | (b != 0)), "&&": lambda a, b: 1.0 * ((a != 0) & (b != 0)),
    "==": lambda a, b: 1.0 * (a == b), "!=": lambda a, b: 1.0 * (a != b), "<": lambda a, b: 1.0 * (a < b),
    "<=": lambda a, b: 1.0 * (a <= b), ">": lambda a, b: 1.0 * (a > b), ">=": lambda a, b: 1.0 * (a >= b),
    "+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide, "%": np.fmod}


def _is_pow2(value):
    return 1.0 * ((value >= 1) & (np.frexp(value)[0] == 0.5))


FUNCTIONS = {"min": lambda *of: functools.reduce(np.minimum, of), "max": lambda *of: functools.reduce(np.maximum, of),
             "floor": np.floor, "ceil_div": lambda a, b: np.ceil(a / b), "is_pow2": _is_pow2,
             "round_up": lambda a, b: np.ceil(a / b) * b}


class Expression:
    """One expression. `numbers` are the literals of its text in order: [(text, place in the text)]."""

    def __init__(self, text):
        self.text, self.numbers, self.names = text, [], set()
        self._tokens, at = [], 0
        while at < len(text.rstrip()):
            found = TOKEN.match(text, at)
            if not found:
                raise ValueError(f"'{text}': not understood from character {at + 1} on")
            self._tokens.append((found.lastindex, found[found.lastindex], found.start(found.lastindex)))
            at = found.end()
        self._next = 0
        self._tree = self._conditional()
        if self._next < len(self._tokens):
            raise ValueError(f"'{text}': '{self._tokens[self._next][1]}' is not expected")

    def __call__(self, names, numbers):
        """Returns the value. names: {name: array or number}; numbers: one for each literal."""
        with np.errstate(all="ignore"):
            return self._tree(names, numbers)

    def _take(self, *texts):
        if self._next < len(self._tokens) and self._tokens[self._next][1] in texts:
            self._next += 1
            return self._tokens[self._next - 1][1]
        return None

    def _expect(self, text):
        if not self._take(text):
            raise ValueError(f"'{self.text}': '{text}' is missing")

    def _conditional(self):
        condition = self._binary(0)
        if not self._take("?"):
            return condition
        yes = self._conditional()
        self._expect(":")
        no = self._conditional()
        return lambda names, numbers: np.where(condition(names, numbers) != 0, yes(names, numbers), no(names, numbers))

    def _binary(self, level):
        if level == len(LEVELS):
            return self._unary()
        left = self._binary(level + 1)
        while operator := self._take(*LEVELS[level]):
            left = self._applied(OPERATORS[operator], left, self._binary(level + 1))
        return left

    def _unary(self):
        if operator := self._take("-", "!"):
            of = self._unary()
            return self._applied(np.negative if operator == "-" else lambda a: 1.0 * (a == 0), of)
        base = self._primary()
        return self._applied(np.power, base, self._unary()) if self._take("^") else base

    def _primary(self):
        if self._take("("):
            inner = self._conditional()
            self._expect(")")
            return inner
        if self._next == len(self._tokens):
            raise ValueError(f"'{self.text}': it ends too early")
        kind, text, place = self._tokens[self._next]
        self._next += 1
        if kind == 1:
            self.numbers.append((text, place))
            index = len(self.numbers) - 1
            return lambda names, numbers: numbers[index]
        if kind != 2:
            raise ValueError(f"'{self.text}': '{text}' is not expected")
        if not self._take("("):
            self.names.add(text)
            return lambda names, numbers: names[text]
        of = [self._conditional()]
        while self._take(","):
            of.append(self._conditional())
        self._expect(")")
        if text not in FUNCTIONS:
            raise ValueError(f"'{self.text}': no function '{text}' is known here")
        return self._applied(FUNCTIONS[text], *of)

    @staticmethod
    def _applied(function, *of):
        return lambda names, numbers: function(*(one(names, numbers) for one in of))

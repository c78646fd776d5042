"""A family's model of its time (docs/estimate.md), evaluated on many recorded times at once.

What tiles SMs take, and when, is replayed by the program's own code, src/runtime/time_model.cpp."""
import ctypes
import json
import math
import pathlib
import subprocess

import numpy as np

import family_expressions

ROOT = pathlib.Path(__file__).resolve().parents[2]
ORDERS = ("even", "in_turn", "when_free", "one_ahead")  # as TileOrder
MOST_ROWS = 1024  # TileSchedule::kMostRows
CLOCKS = ("launch_clocks", "tile_clocks", "step_clocks", "memory_clocks")
DIGITS = 3  # of a number that was fitted

REPLAY = r"""
#include "runtime/time_model.hpp"
#include <algorithm>
using namespace fatune_attention::detail;
extern "C" void replay(long count, const double* clocks, const long* shape, const long* first_row,
                       const double* row_steps, double* result) {
#pragma omp parallel for schedule(dynamic, 64)
  for (long i = 0; i < count; ++i) {
    static thread_local TimeModel model;
    const double* const of = clocks + 4 * i;
    model.launch_clocks = of[0];
    model.tile_clocks = of[1];
    model.step_clocks = of[2];
    model.memory_clocks = of[3];
    TileSchedule& schedule = model.schedule;
    const long* const is = shape + 5 * i;
    schedule.order = static_cast<TileOrder>(is[0]);
    schedule.sms = is[1];
    schedule.heads = is[2];
    schedule.section_heads = is[3];
    schedule.list_rows(is[4]);
    std::copy(row_steps + first_row[i], row_steps + first_row[i + 1], schedule.row_steps.begin());
    result[i] = model_time(model).clocks;
  }
}
"""


class Coefficient:
    """A number in the model's expressions that is fitted."""

    def __init__(self, owner, index, text):
        self.owner, self.index, self.value = owner, index, float(text)


def is_fitted(text, before):
    """Whether a number is a coefficient: it has two decimal digits, or three digits without being a power of two, and
    nothing is compared with it. before: the expression's text before it"""
    compared = before.rstrip().endswith(("==", "!=", "<", ">", "="))
    decimals = text.partition(".")[2].lstrip("0") if float(text) < 1 else text.replace(".", "")
    is_power = float(text) >= 1 and math.log2(float(text)).is_integer()
    return not compared and not is_power and len(decimals) >= (2 if "." in text else 3)


def compiled_replay(folder):
    source, library = pathlib.Path(folder) / "replay.cpp", pathlib.Path(folder) / "replay.so"
    source.write_text(REPLAY, encoding="utf-8")
    subprocess.run(["g++", "-std=c++17", "-O2", "-fopenmp", "-shared", "-fPIC", "-I", ROOT / "src", source,
                    ROOT / "src/runtime/time_model.cpp", "-o", library], check=True)
    return ctypes.CDLL(str(library)).replay


class EstimateModel:
    def __init__(self, family, folder):
        """folder: for what is compiled"""
        self.file = ROOT / "kernels" / family / "family.json"
        self.family = json.loads(self.file.read_text(encoding="utf-8"))
        self.model = self.family["estimate"]["model"]
        self.replay = compiled_replay(folder)
        self.named = _Lazy({one["name"]: str(one["value"])
                            for one in [*self.family["derived"], *self.model["quantities"]]})
        self.clocks = {name: family_expressions.Expression(str(self.model.get(name, "0"))) for name in CLOCKS}
        of_schedule = self.model["schedule"]
        self.schedule = {name: family_expressions.Expression(str(of_schedule[name]))
                         for name in ("sms", "heads", "section_heads", "rows", "steps")}
        quantities = [one["name"] for one in self.model["quantities"]]
        self.coefficients = [Coefficient(owner, index, text)
                             for owner in [*quantities, *CLOCKS]
                             for index, (text, place) in enumerate(self._expression(owner).numbers)
                             if is_fitted(text, self._expression(owner).text[:place])]

    def _expression(self, owner):
        return self.clocks[owner] if owner in self.clocks else self.named[owner]

    def start(self):
        return np.array([one.value for one in self.coefficients])

    def texts(self, values):
        """Returns {quantity or clocks: its expression with these numbers, to three digits}."""
        found = {}
        for owner in {one.owner for one in self.coefficients}:
            text = self._expression(owner).text
            own = [(one.index, value) for one, value in zip(self.coefficients, values) if one.owner == owner]
            for index, value in sorted(own, reverse=True):
                old, place = self._expression(owner).numbers[index]
                text = text[:place] + three_digits(value) + text[place + len(old):]
            found[owner] = text
        return found

    def write(self, values, source):
        """Writes the numbers into family.json, which stays as it is otherwise."""
        text = self.file.read_text(encoding="utf-8")
        for owner, new in self.texts(values).items():
            text = text.replace(json.dumps(self._expression(owner).text), json.dumps(new))
        self.file.write_text(text.replace(json.dumps(self.model["source"]), json.dumps(source)), encoding="utf-8")


class _Lazy:
    """Expressions by name, parsed when they are asked for: some that no model needs have functions that are not known
    here."""

    def __init__(self, texts):
        self.texts, self.parsed = texts, {}

    def __getitem__(self, name):
        if name not in self.parsed:
            self.parsed[name] = family_expressions.Expression(self.texts[name])
        return self.parsed[name]


def three_digits(value):
    digits = max(0, DIGITS - 1 - math.floor(math.log10(value)))
    return f"{value:.{digits}f}"


class Evaluation:
    """The model on recorded times. facts: {symbol: array} of parameters, problems and devices."""

    def __init__(self, model, facts):
        self.model, self.count = model, len(next(iter(facts.values())))
        self.names = _Names(facts, model)
        of = {name: self._array(one(self.names, _literals(one))) for name, one in model.schedule.items() if name != "steps"}
        rows = np.maximum(1, of["rows"])
        self.shape = np.ascontiguousarray(np.stack([self._orders(), *(np.maximum(1, of[name]) for name in (
            "sms", "heads", "section_heads")), rows], axis=1).astype(np.int64))
        listed = np.minimum(rows, MOST_ROWS).astype(int)
        self.first_row = np.concatenate([[0], np.cumsum(listed)]).astype(np.int64)
        owner = np.repeat(np.arange(self.count), listed)
        number = np.arange(len(owner)) - self.first_row[owner]
        row = np.floor(number * (rows / listed)[owner])
        steps = model.schedule["steps"](_RowNames(self.names, owner, row), _literals(model.schedule["steps"]))
        self.row_steps = np.ascontiguousarray(np.broadcast_to(steps, row.shape), dtype=np.float64)

    def _array(self, value):
        return np.broadcast_to(np.asarray(value, dtype=np.float64), (self.count,))

    def _orders(self):
        order = self.model.model["schedule"]["order"]
        chosen = np.full(self.count, -1)
        for one in [{"value": order}] if isinstance(order, str) else order:
            condition = family_expressions.Expression(one.get("when", "1"))
            holds = self._array(condition(self.names, _literals(condition))) != 0
            chosen = np.where((chosen < 0) & holds, ORDERS.index(one["value"]), chosen)
        return chosen

    def clocks(self, values):
        """Returns the clocks of each time with these coefficients."""
        changed = {}
        for one, value in zip(self.model.coefficients, values):
            changed.setdefault(one.owner, {})[one.index] = value
        names = _Names(self.names.facts, self.model, self.names.known, changed)
        parts = [self._array(one(names, _literals(one, changed.get(name)))) for name, one in self.model.clocks.items()]
        clocks = np.ascontiguousarray(np.stack(parts, axis=1))
        result = np.empty(self.count)
        pointer = lambda array: array.ctypes.data_as(ctypes.c_void_p)
        self.model.replay(ctypes.c_long(self.count), pointer(clocks), pointer(self.shape), pointer(self.first_row),
                          pointer(self.row_steps), pointer(result))
        return result


def _literals(expression, changed=None):
    return [(changed or {}).get(index, float(text)) for index, (text, _) in enumerate(expression.numbers)]


class _Names:
    """What names in expressions mean, found when they are asked for."""

    def __init__(self, facts, model, known=None, changed=None):
        self.facts, self.model, self.changed = facts, model, changed or {}
        fitted = {one["name"] for one in model.model["quantities"]}
        self.known = {name: value for name, value in (known or {}).items() if name not in fitted}

    def __getitem__(self, name):
        if name in self.facts:
            return self.facts[name]
        if name not in self.known:
            expression = self.model.named[name]
            self.known[name] = expression(self, _literals(expression, self.changed.get(name)))
        return self.known[name]


class _RowNames:
    def __init__(self, names, owner, row):
        self.names, self.owner, self.row, self.known = names, owner, row, {}

    def __getitem__(self, name):
        if name == "row":
            return self.row
        if name not in self.known:
            value = np.asarray(self.names[name])
            self.known[name] = value[self.owner] if value.ndim else value
        return self.known[name]

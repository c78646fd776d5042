"""How good the configurations are that `fatune predict` chooses, in the rounds of the sweeps' winners and the peers."""
import concurrent.futures
import statistics

import fatune_program
import peer_figures

# Of a row of predict's report.
MEMBERS = ("config", "family", "step", "untuned", "reason", "predicted_us", "expected_regret_percent",
           "worst_regret_percent")
AT_ONCE = 8  # programs, each of which takes some of the GPU's memory
TUNED, OUTSIDE = "tuned", "outside"  # the ranges of choices


def predictions(fatune, problems, device):
    """Returns for each problem what fatune chooses, or the error."""

    def one(problem):
        try:
            return fatune_program.predict(fatune, problem, device)
        except fatune_program.ProgramError as error:
            return error

    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        return list(pool.map(one, problems))


def _percent_slower(figure, than):
    return 100 * (figure["median_ms"] / than["median_ms"] - 1) if figure and than else None


def with_choice(row, prediction, winners):
    """Returns a row with the choice. It is one of the candidates only if it is one of the sweep's winners, too."""
    figure = row["candidates"].get(prediction["config"], {})
    candidates = {name: of for name, of in row["candidates"].items() if name in winners}
    row = {**row, "candidates": candidates, "best": peer_figures.best_candidate(candidates)}
    choice = {**{name: prediction[name] for name in MEMBERS}, "median_ms": figure.get("median_ms"),
              "range": OUTSIDE if prediction["untuned"] or not prediction["config"] else TUNED,
              "slower_than_best_peer_percent":
                  _percent_slower(figure, peer_figures.peer_figure(row, peer_figures.FASTEST)),
              "regret_percent": _percent_slower(figure, peer_figures.best_figure(row))}
    return {**row, "choice": choice}


def has_failed(row):
    """Whether a configuration was chosen that could not be timed."""
    choice = row.get("choice")
    return bool(choice and choice["config"] and choice["median_ms"] is None)


def _of_choice(member, digits, scale=1.0):
    def cell(row):
        value = (row.get("choice") or {}).get(member)
        return peer_figures.number(None if value is None else value * scale, digits)

    return cell


def _ratio_to_best_peer(row):
    slower = (row.get("choice") or {}).get("slower_than_best_peer_percent")
    return peer_figures.number(None if slower is None else 1 / (1 + slower / 100), 3)


def _text(member):
    return lambda row: (row.get("choice") or {}).get(member) or "none"


# Columns of a table: [(heading, function of a row)]
COLUMNS = [("choice us", _of_choice("median_ms", 1, 1e3)), ("choice/best", _ratio_to_best_peer),
           ("regret %", _of_choice("regret_percent", 2)), ("expected %", _of_choice("expected_regret_percent", 2)),
           ("range", _text("range"))]
TEXTS = [("choice", _text("config")), ("chosen by", _text("step"))]


def _values(rows, member):
    """Returns (value, label) of the rows that have a value."""
    return [(row["choice"][member], row["label"]) for row in rows if row["choice"][member] is not None]


def _summary_of(rows):
    slower, regrets = _values(rows, "slower_than_best_peer_percent"), _values(rows, "regret_percent")
    found = {"problems": len(rows), "beside_peers": len(slower), "slower": sum(value > 0 for value, _ in slower)}
    if slower:
        found["slower_most_percent"], found["slower_most_on"] = max(slower)
    found["regrets"] = len(regrets)
    if regrets:
        found["median_regret_percent"] = statistics.median(value for value, _ in regrets)
        found["worst_regret_percent"], found["worst_regret_on"] = max(regrets)
    return found


def summary(rows):
    """Returns figures of the choices in the range that was tuned, and of those outside."""
    chosen = [row for row in rows if row.get("choice")]
    return {name: _summary_of([row for row in chosen if row["choice"]["range"] == name]) for name in (TUNED, OUTSIDE)}


HEADINGS = {TUNED: "choice in the tuned range", OUTSIDE: "choice outside the tuned range, where packages use PyTorch"}


def summary_lines(rows):
    """Returns a line for each range that has problems."""
    return "\n".join(_line(name, of) for name, of in summary(rows).items() if of["problems"])


def _line(name, of):
    line = f"{HEADINGS[name]}, {of['problems']} problems"
    if of["beside_peers"]:
        line += f": slower than the best peer on {of['slower']} of {of['beside_peers']}"
        if of["slower"]:
            line += f", by {of['slower_most_percent']:.2f} % at most ({of['slower_most_on']})"
    if of["regrets"]:
        line += (f"; regret on {of['regrets']}: median {of['median_regret_percent']:.2f} %, worst "
                 f"{of['worst_regret_percent']:.2f} % ({of['worst_regret_on']})")
    return line

"""How good the configurations are that `fatune predict` chooses, and those that an exported package comes to by its
trials, in the rounds of the sweeps' winners and the peers."""
import concurrent.futures
import statistics

import fatune_program
import peer_figures

# Of a row of predict's report.
MEMBERS = ("config", "family", "step", "untuned", "reason", "predicted_us", "expected_regret_percent",
           "worst_regret_percent")
AT_ONCE = 8  # programs, each of which takes some of the GPU's memory
TUNED, OUTSIDE = "tuned", "outside"  # the ranges of choices
CHOICE, PACKAGE = "choice", "package"  # what chose


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


def _judged(row, members, figure):
    """Returns what was chosen, beside the winner and the fastest peer."""
    return {**members, "median_ms": figure.get("median_ms"),
            "range": OUTSIDE if members["untuned"] or not members["config"] else TUNED,
            "slower_than_best_peer_percent":
                _percent_slower(figure, peer_figures.peer_figure(row, peer_figures.FASTEST)),
            "regret_percent": _percent_slower(figure, peer_figures.best_figure(row))}


def with_choice(row, prediction, winners):
    """Returns a row with the choice. It is one of the candidates only if it is one of the sweep's winners, too."""
    figure = row["candidates"].get(prediction["config"], {})
    candidates = {name: of for name, of in row["candidates"].items() if name in winners}
    row = {**row, "candidates": candidates, "best": peer_figures.best_candidate(candidates)}
    return {**row, "choice": _judged(row, {name: prediction[name] for name in MEMBERS}, figure)}


def without_package(row):
    """Returns a row without the package among its peers, and the package's figures."""
    peers = dict(row["peers"])
    figure = peers.pop(PACKAGE, {})
    return {**row, "peers": peers}, figure


def with_package(row, explained, figure):
    """Returns a row with the package's kernel. explained: of the package's trials"""
    return {**row, PACKAGE: _judged(row, explained, figure)}


def has_failed(row):
    """Whether a configuration was chosen that could not be timed."""
    return any(of["config"] and of["median_ms"] is None for by in (CHOICE, PACKAGE) if (of := row.get(by)))


def _of(by, member, digits, scale=1.0):
    def cell(row):
        value = (row.get(by) or {}).get(member)
        return peer_figures.number(None if value is None else value * scale, digits)

    return cell


def _ratio_to_best_peer(by):
    def cell(row):
        slower = (row.get(by) or {}).get("slower_than_best_peer_percent")
        return peer_figures.number(None if slower is None else 1 / (1 + slower / 100), 3)

    return cell


def _text(by, member):
    return lambda row: str((row.get(by) or {}).get(member) or "none")


def columns(by):
    """Returns columns of a table: [(heading, function of a row)]."""
    expected = [("expected %", _of(by, "expected_regret_percent", 2))] if by == CHOICE else []
    return [(f"{by} us", _of(by, "median_ms", 1, 1e3)), (f"{by}/best", _ratio_to_best_peer(by)),
            ("regret %", _of(by, "regret_percent", 2)), *expected, ("range", _text(by, "range"))]


def texts(by):
    """Returns columns that follow the others."""
    return [(by, _text(by, "config")), ("chosen by", _text(by, "step")) if by == CHOICE else ("tried", _text(by, "tried"))]


def _values(rows, by, member):
    """Returns (value, label) of the rows that have a value."""
    return [(row[by][member], row["label"]) for row in rows if row[by][member] is not None]


def _summary_of(rows, by):
    slower, regrets = _values(rows, by, "slower_than_best_peer_percent"), _values(rows, by, "regret_percent")
    found = {"problems": len(rows), "beside_peers": len(slower), "slower": sum(value > 0 for value, _ in slower)}
    if slower:
        found["slower_most_percent"], found["slower_most_on"] = max(slower)
    found["regrets"] = len(regrets)
    if regrets:
        found["median_regret_percent"] = statistics.median(value for value, _ in regrets)
        found["worst_regret_percent"], found["worst_regret_on"] = max(regrets)
    return found


def summary(rows, by=CHOICE):
    """Returns figures of what was chosen in the range that was tuned, and outside."""
    chosen = [row for row in rows if row.get(by)]
    return {name: _summary_of([row for row in chosen if row[by]["range"] == name], by) for name in (TUNED, OUTSIDE)}


HEADINGS = {TUNED: "in the tuned range", OUTSIDE: "outside the tuned range, where packages use PyTorch"}


def summary_lines(rows, by=CHOICE):
    """Returns a line for each range that has problems."""
    return "\n".join(_line(f"{by} {HEADINGS[name]}", of) for name, of in summary(rows, by).items() if of["problems"])


def _line(heading, of):
    line = f"{heading}, {of['problems']} problems"
    if of["beside_peers"]:
        line += f": slower than the best peer on {of['slower']} of {of['beside_peers']}"
        if of["slower"]:
            line += f", by {of['slower_most_percent']:.2f} % at most ({of['slower_most_on']})"
    if of["regrets"]:
        line += (f"; regret on {of['regrets']}: median {of['median_regret_percent']:.2f} %, worst "
                 f"{of['worst_regret_percent']:.2f} % ({of['worst_regret_on']})")
    return line

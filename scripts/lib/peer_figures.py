"""Statistics and tables of contenders that were timed in rounds."""
import json
import math
import pathlib
import statistics

FASTEST = "best"  # in place of a peer's name: the fastest of them
TEXT_WIDTH = 88  # room for a configuration
LEVELS = (1.05, 1.0, 0.97)  # of ratios: on how many problems they are at least this


def spread(times_ms):
    """Returns the median and quartiles of samples."""
    ordered = sorted(times_ms)
    if len(ordered) == 1:
        return {"median_ms": ordered[0], "low_quartile_ms": ordered[0], "high_quartile_ms": ordered[0]}
    low, middle, high = statistics.quantiles(ordered, n=4, method="inclusive")
    return {"median_ms": middle, "low_quartile_ms": low, "high_quartile_ms": high}


def figure(times_ms, flop):
    """Returns a contender's figures on one problem."""
    times = spread(times_ms)
    return {"tflops": flop / times["median_ms"] / 1e9, **times}


def best_candidate(candidates):
    """Returns the name of the fastest candidate, or None if there is none."""
    return max(candidates, key=lambda name: candidates[name]["tflops"]) if candidates else None


def peer_figure(row, peer):
    """Returns the figures of a peer, or of the fastest one, or {} without a time."""
    timed = {name: of for name, of in row["peers"].items() if of.get("tflops")}
    if peer == FASTEST:
        return max(timed.values(), key=lambda of: of["tflops"], default={})
    return timed.get(peer, {})


def ratio(row, peer):
    """Returns how many times as fast as the peer the best candidate is, or None if one of them has no time."""
    best, other = row["best"], peer_figure(row, peer)
    return row["candidates"][best]["tflops"] / other["tflops"] if best and other else None


def summary(rows, peers):
    """Returns for each peer on how many problems it was timed, and the geometric mean and least of the ratios to it."""
    result = {}
    for peer in peers:
        ratios = [(value, row["label"]) for row in rows if (value := ratio(row, peer)) is not None]
        if ratios:
            mean = math.exp(statistics.fmean(math.log(value) for value, _ in ratios))
            at_least = {f"{level:.2f}": sum(value >= level for value, _ in ratios) for level in LEVELS}
            result[peer] = {"problems": len(ratios), "geometric_mean": mean, "least": min(ratios)[0],
                            "least_on": min(ratios)[1], "at_least": at_least}
    return result


def summary_line(rows, peers):
    parts = [f"{len(rows)} problems"]
    for peer, of in summary(rows, peers).items():
        counted = f" of {of['problems']}" if of["problems"] != len(rows) else ""
        parts.append(f"/{peer}{counted}: geometric mean {of['geometric_mean']:.3f}, least {of['least']:.3f} "
                     f"({of['least_on']})")
    return "; ".join(parts)


def number(value, digits):
    return "-" if value is None else f"{round(value, digits) + 0.0:.{digits}f}"  # never -0


def best_figure(row):
    return row["candidates"][row["best"]] if row["best"] else {}


def ratio_columns(peers):
    return [(f"/{peer}", lambda row, peer=peer: number(ratio(row, peer), 3)) for peer in peers]


def rates(peers):
    """Returns the columns of a table of rates: [(heading, function of a row)]."""
    return [("fatune", lambda row: number(best_figure(row).get("tflops"), 1)),
            *((peer, lambda row, peer=peer: number(peer_figure(row, peer).get("tflops"), 1)) for peer in peers),
            *ratio_columns(peers)]


class Table:
    """Rows as text in columns, or as Markdown. Each row can be printed as soon as it exists."""

    def __init__(self, columns, markdown, texts=()):
        """texts: columns after the winner's, [(heading, function of a row)]"""
        self._markdown = markdown
        self._columns, self._texts = columns, [("winner", lambda row: row["best"] or "none"), *texts]

    def _line(self, label, figures, texts):
        if self._markdown:
            return "| " + " | ".join([label, *figures, *texts]) + " |"
        aligned = "".join(f"{figure:>{max(9, len(name) + 2)}}" for (name, _), figure in zip(self._columns, figures))
        *padded, last = texts
        return f"{label:44}{aligned}  " + "".join(f"{one:{TEXT_WIDTH}}  " for one in padded) + last

    def header(self):
        head = self._line("problem", *([name for name, _ in of] for of in (self._columns, self._texts)))
        count = 1 + len(self._columns) + len(self._texts)
        return head + "\n|" + "---|" * count if self._markdown else head

    def row(self, row):
        figures, texts = ([cell(row) for _, cell in of] for of in (self._columns, self._texts))
        return self._line(row["label"], figures, [f"`{one}`" for one in texts] if self._markdown else texts)


def write_json(file, origin, rows, peers, **more):
    text = json.dumps({"format": "fatune.compare_peers", "format_version": 1, **origin, **more,
                       "summary": summary(rows, peers), "rows": rows}, indent=1)
    pathlib.Path(file).write_text(text + "\n", encoding="utf-8")

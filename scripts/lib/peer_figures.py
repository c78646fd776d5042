"""Statistics and tables of contenders that were timed in rounds: pure functions."""
import math
import statistics


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


def ratio(row, peer):
    """Returns how many times as fast as the peer the best candidate is, or None if one of them has no time."""
    best, other = row["best"], row["peers"].get(peer, {})
    return row["candidates"][best]["tflops"] / other["tflops"] if best and other.get("tflops") else None


def summary(rows, peers):
    """Returns for each peer on how many problems it was timed, and the geometric mean and least of the ratios to it."""
    result = {}
    for peer in peers:
        ratios = [(value, row["label"]) for row in rows if (value := ratio(row, peer)) is not None]
        if ratios:
            mean = math.exp(statistics.fmean(math.log(value) for value, _ in ratios))
            result[peer] = {"problems": len(ratios), "geometric_mean": mean, "least": min(ratios)[0],
                            "least_on": min(ratios)[1]}
    return result


def summary_line(rows, peers):
    parts = [f"{len(rows)} problems"]
    for peer, of in summary(rows, peers).items():
        counted = f" of {of['problems']}" if of["problems"] != len(rows) else ""
        parts.append(f"/{peer}{counted}: geometric mean {of['geometric_mean']:.3f}, least {of['least']:.3f} "
                     f"({of['least_on']})")
    return "; ".join(parts)


class Table:
    """Rows as text in columns, or as Markdown. Each row can be printed as soon as it exists."""

    def __init__(self, peers, markdown):
        self.peers = peers
        self._markdown = markdown
        self._names = ["problem", "fatune", *peers, *(f"/{peer}" for peer in peers), "winner"]
        self._widths = [44, *(max(9, len(name) + 2) for name in self._names[1:-1]), 0]

    def _line(self, cells):
        if self._markdown:
            return "| " + " | ".join(cells) + " |"
        figures = "".join(f"{cell:>{width}}" for cell, width in zip(cells[1:-1], self._widths[1:-1]))
        return f"{cells[0]:{self._widths[0]}}{figures}  {cells[-1]}"

    def header(self):
        head = self._line(self._names)
        return head + "\n|" + "---|" * len(self._names) if self._markdown else head

    def row(self, row):
        def text(value, digits):
            return "-" if value is None else f"{value:.{digits}f}"

        best = row["best"]
        cells = [row["label"], text(row["candidates"][best]["tflops"] if best else None, 1)]
        cells += [text(row["peers"].get(peer, {}).get("tflops"), 1) for peer in self.peers]
        cells += [text(ratio(row, peer), 3) for peer in self.peers]
        winner = best or "none"
        return self._line([*cells, f"`{winner}`" if self._markdown else winner])

"""Figures of problems of any kind: microseconds, TFLOP/s, and TB/s of K and V, the reading of which takes the time of
decoding."""
import statistics

import decode_problems
import peer_figures


def _us(figure):
    return peer_figures.number(figure["median_ms"] * 1e3 if figure else None, 1)


def _rate(row):
    figure = peer_figures.best_figure(row)
    if not figure:
        return "-"
    return peer_figures.number(decode_problems.kv_bytes(row["problem"]) / figure["median_ms"] / 1e9, 2)


def columns(peers):
    """Returns the columns of a table of times: [(heading, function of a row)]."""
    return [("us", lambda row: _us(peer_figures.best_figure(row))), ("TB/s", _rate),
            ("TFLOP/s", lambda row: peer_figures.number(peer_figures.best_figure(row).get("tflops"), 0)),
            *((f"{peer} us", lambda row, peer=peer: _us(peer_figures.peer_figure(row, peer))) for peer in peers),
            *peer_figures.ratio_columns([*peers, peer_figures.FASTEST]),
            ("/first", lambda row: peer_figures.number(row.get("of_first"), 3))]


def with_ratio_to_first(rows):
    """Returns the rows of a group. The others get of_first: how many times as fast as the first winner theirs is."""
    first, *others = rows
    for row in others:
        if first["best"] and row["best"]:
            times = [peer_figures.best_figure(of)["median_ms"] for of in (first, row)]
            row["of_first"] = times[0] / times[1]
    return rows


def summary_lines(rows, peers):
    """Returns a line for each peer, and for the fastest one of each problem."""
    lines = [f"{len(rows)} problems"]
    for peer, of in peer_figures.summary(rows, [*peers, peer_figures.FASTEST]).items():
        counts = ", ".join(f">= {level} on {count}" for level, count in of["at_least"].items())
        lines.append(f"/{peer}, {of['problems']} problems: geometric mean {of['geometric_mean']:.3f}, "
                     f"least {of['least']:.3f} ({of['least_on']}); {counts}")
    if of_first := [row["of_first"] for row in rows if "of_first" in row]:
        lines.append(f"/first, {len(of_first)} problems: geometric mean {statistics.geometric_mean(of_first):.3f}, "
                     f"least {min(of_first):.3f}")
    return "\n".join(lines)

"""Figures of decode problems, whose time is that of reading K and V: microseconds, and TB/s of K and V."""
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
            *((f"{peer} us", lambda row, peer=peer: _us(peer_figures.peer_figure(row, peer))) for peer in peers),
            *peer_figures.ratio_columns([*peers, peer_figures.FASTEST])]


def summary_lines(rows, peers):
    """Returns a line for each peer, and for the fastest one of each problem."""
    lines = [f"{len(rows)} problems"]
    for peer, of in peer_figures.summary(rows, [*peers, peer_figures.FASTEST]).items():
        counts = ", ".join(f">= {level} on {count}" for level, count in of["at_least"].items())
        lines.append(f"/{peer}, {of['problems']} problems: geometric mean {of['geometric_mean']:.3f}, "
                     f"least {of['least']:.3f} ({of['least_on']}); {counts}")
    return "\n".join(lines)

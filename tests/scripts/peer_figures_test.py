"""Tests scripts/lib/peer_figures.py: statistics, ratios and tables."""
import unittest

from script_modules import run_tests
import peer_figures


def row(label, ours, **peers):
    return {"label": label, "best": "(A)" if ours else None, "candidates": {"(A)": {"tflops": ours}} if ours else {},
            "peers": {name: {"tflops": tflops} for name, tflops in peers.items()}}


class Figures(unittest.TestCase):
    def test_median_and_quartiles(self):
        self.assertEqual(peer_figures.figure([3.0, 1.0, 5.0, 2.0, 4.0], 6e9),
                         {"tflops": 2.0, "median_ms": 3.0, "low_quartile_ms": 2.0, "high_quartile_ms": 4.0})
        self.assertEqual(peer_figures.spread([2.0])["high_quartile_ms"], 2.0)

    def test_the_fastest_candidate_is_the_best(self):
        self.assertEqual(peer_figures.best_candidate({"a": {"tflops": 1}, "b": {"tflops": 2}}), "b")
        self.assertIsNone(peer_figures.best_candidate({}))

    def test_the_summary_leaves_out_what_has_no_time(self):
        rows = [row("one", 200.0, x=100.0), row("two", 50.0, x=100.0, y=100.0), row("three", None, x=1.0)]
        summary = peer_figures.summary(rows, ["x", "y", "z"])
        self.assertAlmostEqual(summary["x"]["geometric_mean"], 1.0)
        self.assertEqual((summary["x"]["least"], summary["x"]["least_on"], summary["x"]["problems"]), (0.5, "two", 2))
        self.assertNotIn("z", summary)
        self.assertEqual(summary["x"]["at_least"], {"1.05": 1, "1.00": 1, "0.97": 1})
        self.assertEqual(peer_figures.summary_line(rows, ["x", "y"]),
                         "3 problems; /x of 2: geometric mean 1.000, least 0.500 (two); "
                         "/y of 1: geometric mean 0.500, least 0.500 (two)")


    def test_the_fastest_peer_of_each_problem(self):
        rows = [row("one", 200.0, x=100.0, y=160.0), row("two", 50.0, x=100.0), row("three", 50.0)]
        self.assertEqual(peer_figures.ratio(rows[0], peer_figures.FASTEST), 1.25)
        of = peer_figures.summary(rows, [peer_figures.FASTEST])[peer_figures.FASTEST]
        self.assertEqual((of["problems"], of["least"]), (2, 0.5))


class Tables(unittest.TestCase):
    def test_columns_line_up(self):
        table = peer_figures.Table(peer_figures.rates(["fa2"]), False)
        head, line = table.header(), table.row(row("b1 s2", 123.45, fa2=100.0))
        self.assertEqual(line.split(), ["b1", "s2", "123.5", "100.0", "1.234", "(A)"])
        self.assertEqual(head.index("fa2") + len("fa2"), line.index("100.0") + len("100.0"))
        self.assertEqual(table.row(row("b1 s2", None)).split(), ["b1", "s2", "-", "-", "-", "none"])

    def test_markdown(self):
        table = peer_figures.Table(peer_figures.rates(["fa2"]), True)
        self.assertEqual(table.header(), "| problem | fatune | fa2 | /fa2 | winner |\n|---|---|---|---|---|")
        self.assertEqual(table.row(row("b1", 1.0, fa2=2.0)), "| b1 | 1.0 | 2.0 | 0.500 | `(A)` |")

    def test_texts_follow_the_winner(self):
        texts = [("choice", lambda row: "(B)"), ("chosen by", lambda row: "exact")]
        table = peer_figures.Table([], False, texts)
        head, line = table.header(), table.row(row("b1", 1.0))
        self.assertEqual([head.index(name) for name in ("winner", "choice", "chosen by")],
                         [line.index(text) for text in ("(A)", "(B)", "exact")])
        self.assertEqual(peer_figures.Table([], True, texts).row(row("b1", 1.0)), "| b1 | `(A)` | `(B)` | `exact` |")


if __name__ == "__main__":
    run_tests()

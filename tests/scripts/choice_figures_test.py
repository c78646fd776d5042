"""Tests scripts/lib/choice_figures.py: how good choices are beside winners and peers."""
import unittest

from script_modules import run_tests
import choice_figures


def figure(ms):
    return {"tflops": 100 / ms, "median_ms": ms}


def row(label, chosen_ms, winner_ms=1.0, peers=(), config="(B)", **prediction):
    """chosen_ms: None where the choice has no time"""
    candidates = {"(A)": figure(winner_ms)} | ({config: figure(chosen_ms)} if chosen_ms else {})
    one = dict.fromkeys(choice_figures.MEMBERS) | {"config": config, "step": "predicted"} | prediction
    return choice_figures.with_choice({"label": label, "candidates": candidates, "best": "(B)",
                                       "peers": dict(zip("xyz", map(figure, peers)))}, one, {"(A)": {}})


class Choices(unittest.TestCase):
    def test_a_choice_is_compared_with_the_winner_and_the_fastest_peer(self):
        found = row("one", 1.02, peers=(1.5, 1.0))
        self.assertEqual((found["best"], list(found["candidates"])), ("(A)", ["(A)"]))
        self.assertAlmostEqual(found["choice"]["regret_percent"], 2.0)
        self.assertAlmostEqual(found["choice"]["slower_than_best_peer_percent"], 2.0)
        cells = [cell(found) for _, cell in choice_figures.columns("choice") + choice_figures.texts("choice")]
        self.assertEqual(cells, ["1020.0", "0.980", "2.00", "-", "tuned", "(B)", "predicted"])

    def test_a_choice_may_be_the_winner_or_faster(self):
        self.assertEqual(row("same", None, config="(A)")["choice"]["regret_percent"], 0)
        self.assertAlmostEqual(row("faster", 0.99)["choice"]["regret_percent"], -1.0)

    def test_what_has_no_time_has_no_figures(self):
        without = row("one", None, peers=(1.0,))
        self.assertEqual([without["choice"][name] for name in ("regret_percent", "slower_than_best_peer_percent")],
                         [None, None])
        self.assertTrue(choice_figures.has_failed(without))
        refused = row("two", None, config=None, reason="nothing is eligible")
        self.assertEqual((choice_figures.has_failed(refused), refused["choice"]["range"]), (False, "outside"))
        self.assertFalse(choice_figures.has_failed({"label": "three"}))  # a row without choices
        self.assertEqual([cell({"label": "three"}) for _, cell in choice_figures.columns("choice")], ["-"] * 4 + ["none"])


class Package(unittest.TestCase):
    @staticmethod
    def split(one, explained):
        one, figure = choice_figures.without_package(one)
        return one, explained, figure

    def test_it_is_judged_beside_the_winner_and_is_no_peer(self):
        explained = {"config": "(C)", "step": "predicted", "untuned": "", "reason": "", "tried": 8, "calls": 30}
        one = row("one", 1.02, peers=(1.0,))
        one = one | {"peers": one["peers"] | {"package": {"tflops": 1000 / 0.9, "median_ms": 0.9}}}
        found = choice_figures.with_package(*self.split(one, explained))
        self.assertNotIn("package", found["peers"])
        self.assertAlmostEqual(found["package"]["slower_than_best_peer_percent"], -10)
        self.assertAlmostEqual(found["package"]["regret_percent"], -10)
        self.assertEqual([cell(found) for _, cell in choice_figures.columns("package") + choice_figures.texts("package")],
                         ["900.0", "1.111", "-10.00", "tuned", "(C)", "8"])
        self.assertEqual(choice_figures.summary([found], "package")["tuned"]["slower"], 0)
        self.assertTrue(choice_figures.summary_lines([found], "package").startswith("package in the tuned range, 1 problems"))
        self.assertTrue(choice_figures.has_failed(choice_figures.with_package(*self.split(row("two", 1.0), explained))))


class Summary(unittest.TestCase):
    ROWS = [row("one", 1.02, peers=(1.0,)), row("two", 1.04, peers=(2.0,)), row("three", 1.0),
            row("four", 1.5, peers=(1.0,), untuned="queries: 173"), row("five", None), {"label": "six"}]

    def test_ranges_are_counted_separately(self):
        found = choice_figures.summary(self.ROWS)
        tuned, outside = found["tuned"], found["outside"]
        self.assertEqual([tuned[name] for name in ("problems", "beside_peers", "slower", "slower_most_on", "regrets",
                                                   "worst_regret_on")], [4, 2, 1, "one", 3, "two"])
        self.assertAlmostEqual(tuned["median_regret_percent"], 2.0)
        self.assertAlmostEqual(tuned["worst_regret_percent"], 4.0)
        self.assertEqual((outside["problems"], outside["slower"]), (1, 1))

    def test_lines(self):
        self.assertEqual(choice_figures.summary_lines(self.ROWS).splitlines(), [
            "choice in the tuned range, 4 problems: slower than the best peer on 1 of 2, by 2.00 % at most (one); "
            "regret on 3: median 2.00 %, worst 4.00 % (two)",
            "choice outside the tuned range, where packages use PyTorch, 1 problems: slower than the best peer on 1 of 1, "
            "by 50.00 % at most (four); regret on 1: median 50.00 %, worst 50.00 % (four)"])
        self.assertEqual(choice_figures.summary_lines([{"label": "six"}]), "")


if __name__ == "__main__":
    run_tests()

"""Tests scripts/lib/peer_rounds.py: the number of rounds, their order and their pauses."""
import unittest

from script_modules import run_tests
import peer_rounds


class Clock:
    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


class Rounds(unittest.TestCase):
    def test_without_a_budget_rounds_are_as_asked_for(self):
        self.assertEqual(peer_rounds.Budget(3, 12).rounds(99.0), 12)
        self.assertEqual(peer_rounds.Budget(3, None).rounds(99.0), 20)

    def test_a_budget_is_spread_evenly_and_what_is_left_goes_on(self):
        clock = Clock()
        budget = peer_rounds.Budget(3, None, 30.0, clock)
        budget.begin_problem()
        clock.now += 2.0  # set-up is part of the share
        self.assertEqual(budget.rounds(0.1), 80)
        clock.now += 2.0  # less than its share
        budget.begin_problem()
        self.assertEqual(budget.rounds(0.1), 130)
        clock.now += 25.0
        budget.begin_problem()
        self.assertEqual(budget.rounds(0.01), 100)

    def test_there_are_enough_rounds_and_not_too_many(self):
        clock = Clock()
        budget = peer_rounds.Budget(1, None, 1.0, clock)
        budget.begin_problem()
        self.assertEqual(budget.rounds(10.0), 7)
        self.assertEqual(budget.rounds(1e-9), 200)
        clock.now += 5.0
        self.assertEqual(budget.rounds(0.1), 7)
        few = peer_rounds.Budget(1, 5, 1.0, clock)
        few.begin_problem()
        self.assertEqual(few.rounds(0.01), 5)

    def test_everybody_is_first_in_turn(self):
        self.assertEqual([peer_rounds.rotated("abc", number) for number in range(4)], ["abc", "bca", "cab", "abc"])

    def test_the_pause_covers_the_host(self):
        self.assertEqual(peer_rounds.pause_cycles(0.0), peer_rounds.LEAST_PAUSE_CYCLES)
        self.assertGreater(peer_rounds.pause_cycles(1e-3), 1e-3 * 2e9)
        self.assertEqual(peer_rounds.pause_cycles(10.0), peer_rounds.MOST_PAUSE_CYCLES)

    def test_samples_that_the_host_was_too_slow_for_are_taken_again(self):
        class Timer(peer_rounds.Timer):
            def __init__(self, host_s):
                self.host_s = iter(host_s)

            def _sample(self, contender, pause):
                host_s = next(self.host_s)
                return host_s, "stop", host_s

        pause = peer_rounds.pause_cycles(0.0)  # 150 us
        self.assertEqual(Timer([0.01, 2e-4, 1e-4, 5e-5])._sample_ahead(None, pause), (1e-4, "stop"))
        self.assertEqual(Timer([0.01] * peer_rounds.MOST_TRIES)._sample_ahead(None, pause), (0.01, "stop"))


if __name__ == "__main__":
    run_tests()

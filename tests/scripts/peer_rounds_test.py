"""Tests scripts/lib/peer_rounds.py: the number of rounds, their order and their pauses, and turns."""
import collections
import itertools
import types
import unittest

from script_modules import run_tests
import peer_rounds


class Clock:
    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


class Gpu:
    """The part of PyTorch that turns use. Launches run when the host waits for an event behind them."""

    int32 = "int32"

    def __init__(self):
        self.queue, self.now_ms, self.most_queued, self.idle = [], 0.0, 0, 0
        gpu = self

        class Event:
            def __init__(self, enable_timing):
                assert enable_timing
                self.at_ms = None

            def record(self):
                gpu.queue.append(self)

            def synchronize(self):
                gpu.work_until(self)

            def elapsed_time(self, end):
                return end.at_ms - self.at_ms

        self.cuda = types.SimpleNamespace(Event=Event, synchronize=lambda: gpu.work_until(None),
                                          clock_rate=self.clock_rate)

    def zeros(self, *_size, **_options):
        return None

    def clock_rate(self):
        self.idle += not self.queue
        return 1500

    def work_until(self, end):
        self.most_queued = max(self.most_queued, sum(isinstance(one, float) for one in self.queue))
        while self.queue:
            one = self.queue.pop(0)
            if isinstance(one, float):
                self.now_ms += one
                continue
            one.at_ms = self.now_ms
            if one is end:
                break
        self.idle += end is not None and not self.queue


class Launches:
    """A contender. Its first launches may take other times than the later ones."""

    def __init__(self, gpu, name, later_ms, first_ms=()):
        self.gpu, self.count, self.prepared = gpu, 0, 0
        self.later_ms, self.first_ms = later_ms, first_ms
        self.contender = peer_rounds.Contender(name, self.launch, self.prepare)

    def prepare(self):
        self.prepared += 1

    def launch(self):
        self.gpu.queue.append(self.first_ms[self.count] if self.count < len(self.first_ms) else self.later_ms)
        self.count += 1


class Turns(unittest.TestCase):
    def measure(self, turn_s, *contenders, rounds=1):
        timer = peer_rounds.timer(self.gpu, turn_s)
        return timer.measure([one.contender for one in contenders], peer_rounds.Budget(1, rounds))

    def setUp(self):
        self.gpu = Gpu()

    def test_a_sample_is_the_median_without_the_first_third(self):
        settling = Launches(self.gpu, "settling", 2.5, [1.0] * 320)  # of 1000 ms
        times, clock = self.measure(1.0, settling)
        self.assertEqual((times, clock), ({"settling": [2.5]}, 1500))
        self.assertEqual(settling.prepared, settling.count)
        self.assertGreaterEqual(self.gpu.now_ms, 1000)
        self.assertLess(self.gpu.now_ms, 1200)

    def test_the_host_is_ahead_by_a_small_part_of_a_turn(self):
        self.measure(1.0, Launches(self.gpu, "short", 0.125))
        self.assertGreater(self.gpu.most_queued * 0.125, 2 * 1000 / peer_rounds.BATCHES)
        self.assertLess(self.gpu.most_queued * 0.125, 5 * 1000 / peer_rounds.BATCHES)

    def test_the_gpu_never_idles(self):
        a, b = (Launches(self.gpu, name, 5.0) for name in "ab")
        times, _ = self.measure(0.1, a, b, rounds=2)
        self.assertEqual((times, self.gpu.idle), ({"a": [5.0, 5.0], "b": [5.0, 5.0]}, 0))

    def test_a_launch_may_be_longer_than_a_turn(self):
        long = Launches(self.gpu, "long", 500.0, [700.0])
        self.assertEqual(self.measure(0.1, long)[0], {"long": [500.0]})
        self.assertEqual(long.count, 3)

    def test_a_budget_has_two_rounds_of_turns_at_least(self):
        clock = Clock()
        a, b = (Launches(self.gpu, name, 5.0) for name in "ab")
        for seconds, rounds in ((0.1, 2), (1.05, 5)):  # a round takes 0.2 s
            budget = peer_rounds.Budget(1, None, seconds, clock)
            budget.begin_problem()
            times, _ = peer_rounds.timer(self.gpu, 0.1).measure([a.contender, b.contender], budget)
            self.assertEqual(times, {"a": [5.0] * rounds, "b": [5.0] * rounds})


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

    def test_each_comes_at_every_place_and_after_every_other_one_equally_often(self):
        for count in range(1, 10):
            rounds = count * (1 + count % 2)
            orders = [peer_rounds.in_turn(range(count), number) for number in range(rounds)]
            places = collections.Counter(pair for order in orders for pair in enumerate(order))
            self.assertEqual(places, {pair: rounds // count for pair in itertools.product(range(count), repeat=2)})
            following = collections.Counter(pair for order in orders for pair in itertools.pairwise(order))
            self.assertEqual(following, {pair: rounds // count for pair in itertools.permutations(range(count), 2)})
            self.assertEqual(peer_rounds.in_turn(range(count), rounds), orders[0])

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

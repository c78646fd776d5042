"""Tests scripts/lib/untuned_problems.py: prefill problems at random."""
import collections
import unittest

from script_modules import run_tests
import fatune_program
import untuned_problems


class Lists(unittest.TestCase):
    def test_problems_depend_on_the_seed_alone(self):
        problems = untuned_problems.random_problems(3, 60)
        self.assertEqual(untuned_problems.random_problems(3, 20), problems[:20])
        self.assertNotEqual(untuned_problems.random_problems(4, 20), problems[:20])

    def test_problems_are_within_their_limits_and_reach_them(self):
        problems = untuned_problems.random_problems(1, 600, tuned=[])
        for one in problems:
            self.assertEqual((one["seq_len"] % 2, one["seq_len_kv"], one["dtype"]), (1, one["seq_len"], "BF16"))
            self.assertTrue(128 <= one["seq_len"] <= 131072 and 1 <= one["batch"] <= 32 and 2 <= one["heads"] <= 64)
            self.assertEqual(one["heads"] % one["kv_heads"], 0)
            self.assertLessEqual(untuned_problems.flop(one), 1e13)
            self.assertLessEqual(untuned_problems.tensor_bytes(one), 8e9)
        for member, least, greatest in (("seq_len", 150, 60000), ("batch", 1, 30), ("heads", 2, 60)):
            values = [one[member] for one in problems]
            self.assertLessEqual(min(values), least)
            self.assertGreaterEqual(max(values), greatest)
        self.assertEqual({one["heads"] // one["kv_heads"] for one in problems}, {1, 4, 8})
        of_dims = collections.Counter(one["d_head"] for one in problems)
        self.assertEqual(set(of_dims), {64, 128, 256})
        self.assertTrue(0.4 <= of_dims[128] / len(problems) <= 0.6, of_dims)
        self.assertTrue(0.4 <= sum(one["causal"] for one in problems) / len(problems) <= 0.6)

    def test_operations_and_bytes(self):
        one = {"batch": 2, "seq_len": 100, "heads": 8, "kv_heads": 2, "d_head": 64, "causal": False}
        self.assertEqual(untuned_problems.flop(one), 2 * 2 * 2 * 8 * 100 * 100 * 64)
        self.assertEqual(untuned_problems.flop({**one, "causal": True}), 2 * 2 * 8 * 100 * 100 * 64)
        self.assertEqual(untuned_problems.tensor_bytes(one), 2 * (8 + 2 + 2 + 8) * 2 * 100 * 64)

    def test_what_was_tuned_is_left_out(self):
        first, second, third = untuned_problems.random_problems(1, 3, tuned=[])
        scale = second["d_head"] ** -0.5 * (1 + 1e-8)  # as rounded to single precision
        row = {**fatune_program.usual_details(second), **second, "softmax_scale": scale}
        self.assertEqual(untuned_problems.random_problems(1, 2, tuned=[row]), [first, third])
        other = {**row, "window": 64}
        self.assertEqual(untuned_problems.random_problems(1, 2, tuned=[other]), [first, second])

    def test_the_results_that_are_shipped_are_read(self):
        tuned = untuned_problems.tuned_problems()
        self.assertGreater(len(tuned), 800)
        self.assertTrue(any(one["batch"] == 16 and one["seq_len"] == 4096 for one in tuned))  # of prefill
        self.assertTrue(any(one["seq_len"] == 1 for one in tuned))  # of decoding


if __name__ == "__main__":
    run_tests()

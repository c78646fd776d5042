"""Tests scripts/lib/decode_problems.py: the lists of problems."""
import unittest

from script_modules import run_tests
import decode_problems
import fatune_program


class Lists(unittest.TestCase):
    def test_the_table(self):
        table = decode_problems.table()
        self.assertEqual(len({fatune_program.problem_label(one) for one in table}), 40)
        self.assertEqual(fatune_program.problem_label(table[11]),
                         "b1 s4 h32 d128 BF16 causal seq_len_kv=16384 kv_heads=8")

    def test_random_problems_are_within_their_limits_and_depend_on_the_seed_alone(self):
        problems = decode_problems.random_problems(3, 400)
        self.assertEqual(decode_problems.random_problems(3, 40), problems[:40])
        self.assertNotEqual(decode_problems.random_problems(4, 40), problems[:40])
        for one in problems:
            self.assertTrue(1 <= one["batch"] <= 256 and 1 <= one["seq_len"] <= 64)
            self.assertTrue(256 <= one["seq_len_kv"] <= 262144 and decode_problems.kv_bytes(one) <= 24e9)
            self.assertTrue(one["heads"] % one["kv_heads"] == 0 and one["heads"] // one["kv_heads"] <= 16)
            self.assertEqual(one["causal"], one["seq_len"] >= 4)
        for member, least in (("batch", 20), ("seq_len", 20), ("seq_len_kv", 100), ("d_head", 3)):
            self.assertGreaterEqual(len({one[member] for one in problems}), least)
        self.assertGreater(max(map(decode_problems.kv_bytes, problems)), 1e9)

    def test_the_bytes_of_a_cache_count_both_head_dimensions(self):
        one = decode_problems.problem_of(2, 1, 100, 8, 4, 192)
        self.assertEqual(decode_problems.kv_bytes({**one, "d_head_v": 128}), 2 * 200 * 4 * (192 + 128))
        self.assertEqual(decode_problems.kv_bytes({**one, "d_head_v": 128, "latent": True}), 2 * 200 * 4 * 192)

    def test_every_second_problem_may_have_lengths(self):
        problems = decode_problems.random_problems(5, 60)
        differing = [one for one in problems if "seq_lens_kv" in one]
        self.assertGreater(len(differing), 20)
        for one in differing:
            lengths = fatune_program.key_lengths(one)
            self.assertEqual((len(lengths), max(lengths)), (one["batch"], one["seq_len_kv"]))
            self.assertGreaterEqual(min(lengths), one["seq_len"])
            self.assertEqual(decode_problems.kv_bytes(one), 4 * sum(lengths) * one["kv_heads"] * one["d_head"])


if __name__ == "__main__":
    run_tests()

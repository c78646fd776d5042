"""Tests scripts/lib/decode_problems.py: the lists of problems."""
import unittest

from script_modules import run_tests
import decode_problems
import fatune_program


class Lists(unittest.TestCase):
    def test_the_table(self):
        table = decode_problems.named("table")
        self.assertEqual(len({fatune_program.problem_label(one) for one in table}), 40)
        self.assertEqual(fatune_program.problem_label(table[11]),
                         "b1 s4 h32 d128 BF16 causal seq_len_kv=16384 kv_heads=8")
        self.assertEqual(decode_problems.named("table:3"), table[:3])

    def test_random_problems_are_within_their_limits_and_depend_on_the_seed_alone(self):
        problems = decode_problems.named("random:3:400")
        self.assertEqual(decode_problems.named("random:3"), problems[:40])
        self.assertNotEqual(decode_problems.named("random:4"), problems[:40])
        for one in problems:
            self.assertTrue(1 <= one["batch"] <= 256 and 1 <= one["seq_len"] <= 64)
            self.assertTrue(256 <= one["seq_len_kv"] <= 262144 and decode_problems.kv_bytes(one) <= 24e9)
            self.assertTrue(one["heads"] % one["kv_heads"] == 0 and one["heads"] // one["kv_heads"] <= 16)
            self.assertEqual(one["causal"], one["seq_len"] >= 4)
        for member, least in (("batch", 20), ("seq_len", 20), ("seq_len_kv", 100), ("d_head", 3)):
            self.assertGreaterEqual(len({one[member] for one in problems}), least)
        self.assertGreater(max(map(decode_problems.kv_bytes, problems)), 1e9)

    def test_every_second_problem_may_have_lengths(self):
        problems = decode_problems.random_problems(5, 60)
        differing = [one for one in problems if "seq_lens_kv" in one]
        self.assertGreater(len(differing), 20)
        for one in differing:
            lengths = fatune_program.key_lengths(one)
            self.assertEqual((len(lengths), max(lengths)), (one["batch"], one["seq_len_kv"]))
            self.assertGreaterEqual(min(lengths), one["seq_len"])
            self.assertEqual(decode_problems.kv_bytes(one), 4 * sum(lengths) * one["kv_heads"] * one["d_head"])

    def test_other_names_are_errors(self):
        for name in ("", "table:x", "random", "random:1:2:3", "table:1:2"):
            with self.assertRaisesRegex(ValueError, "neither table"):
                decode_problems.named(name)


if __name__ == "__main__":
    run_tests()

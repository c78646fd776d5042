"""Tests scripts/lib/problem_sets.py and packed_problems.py: named sets of problems, and packed batches."""
import unittest

from script_modules import run_tests
import decode_problems
import fatune_program
import packed_problems
import problem_sets


class Sets(unittest.TestCase):
    def test_names(self):
        table = problem_sets.named("table")
        self.assertEqual(table.groups, [[one] for one in decode_problems.table()])
        self.assertEqual(problem_sets.named("table:3").groups, table.groups[:3])
        self.assertEqual(len(problem_sets.named("random:3").groups), 40)
        self.assertEqual(problem_sets.named("random:3:2").groups, problem_sets.named("random:3").groups[:2])
        untuned = problem_sets.named("untuned:3")
        self.assertEqual((len(untuned.groups), untuned.sweep), (60, problem_sets.PROMPT_SWEEP))
        self.assertEqual(problem_sets.named("untuned:3:2").groups, untuned.groups[:2])
        for name, count, family in (("pages", 6, "flash_decode"), ("latent", 12, "flash_decode"),
                                    ("packed", 20, "flash_sm90"), ("head_dims", 3, "flash_sm90"), ("scores", 4, "flash_sm90"),
                                    ("eight_bits", 30, "flash_sm90"), ("eight_bit_keys", 6, "flash_decode")):
            found = problem_sets.named(name)
            self.assertEqual(len(found.groups), count)
            self.assertIn(f"--family {family} ", found.sweep)
            labels = [fatune_program.problem_label(one) for group in found.groups for one in group]
            self.assertEqual(len(set(labels)), len(labels))

    def test_other_names_are_errors(self):
        for name in ("", "table:x", "random", "untuned", "untuned:1:x", "random:1:2:3", "table:1:2", "packed:1:2", "all"):
            with self.assertRaisesRegex(ValueError, "is none of table"):
                problem_sets.named(name)

    def test_a_group_of_pages_begins_with_the_contiguous_cache(self):
        for name, sizes in (("pages", [16, 64]), ("latent", [64])):
            for first, *others in problem_sets.named(name).groups:
                self.assertGreaterEqual(decode_problems.kv_bytes(first), 64e6)
                self.assertEqual([one.pop("page_size") for one in others], sizes)
                self.assertEqual(others, [first] * len(sizes))


    def test_problems_of_eight_bits(self):
        prefill = [one for group in problem_sets.named("eight_bits").groups for one in group]
        self.assertEqual({(one["seq_len"], one["batch"]) for one in prefill},
                         {(1024, 16), (2048, 16), (4096, 16), (8192, 8), (16384, 4)})
        for first, *others in problem_sets.named("eight_bit_keys").groups:
            self.assertNotIn("kv_dtype", first)
            self.assertEqual([one.get("page_size", 0) for one in others], [0, 16, 64])
            self.assertEqual({2 * decode_problems.kv_bytes(one) for one in others}, {decode_problems.kv_bytes(first)})


class PackedBatches(unittest.TestCase):
    def test_a_batch_has_the_queries_that_were_asked_for(self):
        for one in packed_problems.batches():
            queries, keys = fatune_program.query_lengths(one), fatune_program.key_lengths(one)
            self.assertIn(sum(queries), packed_problems.TOKENS)
            self.assertGreater(min(queries), 0)
            self.assertEqual((len(queries), max(queries)), (one["batch"], one["seq_len"]))
            self.assertEqual(max(keys or queries), one["seq_len_kv"])
            if keys:
                self.assertEqual(len(keys), len(queries))
                self.assertLessEqual(max(queries), packed_problems.CHUNK)
                self.assertTrue(all(few <= many for few, many in zip(queries, keys)))

    def test_one_batch_in_four_is_of_chunks(self):
        batches = packed_problems.batches()
        self.assertEqual([number for number, one in enumerate(batches) if "seq_lens_kv" in one], [3, 7, 11, 15, 19])
        self.assertEqual(batches, packed_problems.batches())
        self.assertEqual({(one["heads"], one["kv_heads"], one["d_head"]) for one in batches},
                         set(packed_problems.HEADS))

    def test_lengths_are_linear_between_deciles(self):
        self.assertEqual([packed_problems.length("code", share) for share in (0.0, 0.05, 0.5, 0.95, 1.0)],
                         [3, 75, 1469, 6312, 7437])

    def test_chunks_are_consecutive_pieces_of_a_prompt(self):
        class First:
            def randrange(self, count):
                return count - 1

        self.assertEqual(packed_problems._chunk(First(), 5000), (904, 5000))
        self.assertEqual(packed_problems._chunk(First(), 4096), (2048, 4096))


if __name__ == "__main__":
    run_tests()

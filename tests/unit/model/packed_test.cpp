// Packed problems: numbers of queries that differ within the batch.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "model/cpu_reference.hpp"
#include "model/flop.hpp"
#include "model/head_problem.hpp"
#include "model/kv_lengths.hpp"
#include "model/row_sample.hpp"
#include "unit/base/throws_error.hpp"

namespace fatune {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::Lt;

/// Without lengths of keys, there are as many as queries.
Problem packed(std::int64_t batch, const std::string& queries, const std::string& keys = "") {
  const std::int64_t seq_len = std::max<std::int64_t>(1, greatest_length(queries));
  Problem problem{batch, seq_len, 4, 64};
  problem.kv_heads = 2;
  problem.seq_lens = canonical_lengths(queries);
  if (!keys.empty()) {
    problem.seq_lens_kv = canonical_lengths(keys);
    problem.seq_len_kv = std::max<std::int64_t>(1, greatest_length(keys));
  }
  return problem;
}

/// Masks that leave out keys of some sequences, rows without keys, and sequences without rows.
std::vector<Problem> varied_packed_problems() {
  std::vector<Problem> problems;
  for (const char* keys : {"", "40,1,0,17,6,3"}) {
    for (const bool causal : {false, true}) {
      for (const std::int64_t window : {0, 3, 20}) {
        problems.push_back(packed(6, "6,9,4,1,12,0", keys));
        problems.back().d_head = 8;
        problems.back().d_head_v = 16;
        problems.back().causal = causal;
        problems.back().window = window;
      }
    }
  }
  return problems;
}

/// A sequence as a problem of its own. It must have queries and keys.
Problem alone(Problem problem, const Sequence& sequence) {
  problem.batch = 1;
  problem.seq_len = sequence.queries;
  problem.seq_len_kv = sequence.keys;
  problem.seq_lens.clear();
  problem.seq_lens_kv.clear();
  return problem;
}

TEST(Packed, TensorsHaveTheRowsOfAllSequences) {
  const Problem problem = packed(4, "5,0,3,1", "7,2,0,1");
  EXPECT_NO_THROW(check_problem(problem));
  EXPECT_THAT(query_lengths(problem), ElementsAre(5, 0, 3, 1));
  EXPECT_THAT(kv_lengths(problem), ElementsAre(7, 2, 0, 1));
  EXPECT_THAT(starts_of(kv_lengths(problem)), ElementsAre(0, 7, 9, 9, 10));
  const TensorShape q = tensor_shape(problem, TensorRole::q);
  EXPECT_EQ(q.batch, 1);
  EXPECT_EQ(q.rows, 9);
  EXPECT_EQ(tensor_shape(problem, TensorRole::v).rows, 10);
  EXPECT_EQ(output_rows(problem), 4 * 9);
  EXPECT_THAT(row_value_shape(problem), ElementsAre(4, 9));
  EXPECT_EQ(log_sum_exp_buffer(problem).bytes, 4 * 9 * 4);
  EXPECT_THAT(kv_lengths(packed(3, "uniform:1-9")), query_lengths(packed(3, "uniform:1-9")));
}

TEST(Packed, RowsBelongToTheSequenceThatBeginsThereOrBefore) {
  const std::vector<Sequence> sequences = sequences_of(packed(5, "0,5,0,3,0"));
  for (std::int64_t row = 0; row < 8; ++row) {
    EXPECT_EQ(&sequence_at(sequences, 0, row), &sequences[row < 5 ? 1 : 3]) << row;
  }
  const std::vector<Sequence> batch = sequences_of(Problem{3, 4, 1, 64});
  EXPECT_EQ(&sequence_at(batch, 2, 3), &batch[2]);
}

TEST(Packed, ProblemsThatContradictThemselvesAreRefused) {
  const auto refused = [](const Problem& problem, const std::string& why) {
    fixtures::expect_error([&] { check_problem(problem); }, ExitCode::usage, {why});
  };
  Problem problem = packed(2, "7,9");
  EXPECT_NO_THROW(check_problem(problem));
  problem.layout = Layout::bhsd;
  refused(problem, "a packed batch has no layout bhsd");
  problem = packed(2, "7,9");
  problem.batch = 3;
  refused(problem, "2 lengths of queries for a batch of 3");
  problem = packed(2, "7,9");
  problem.seq_len = problem.seq_len_kv = 10;
  refused(problem, "seq_lens allows 9 queries, but seq_len is 10");
  problem = packed(2, "7,9");
  problem.seq_len_kv = 12;
  refused(problem, "as many keys as queries");
  refused(packed(2, "0,0"), "0 queries together");
  refused(packed(2, "1,1", "0,0"), "0 keys together");
  refused(packed(2, "16777216,1"), "16777217 queries together");
  refused(packed(2, "1,2", "5"), "1 lengths of keys for a batch of 2");
}

TEST(Packed, LengthsNameTheProblem) {
  const Problem problem = packed(3, "5,0,3", "7,2,1");
  EXPECT_EQ(describe(problem), "b3 s5 h4 d64 FP16 kv7 hkv2 lens 7,2,1 packed 5,0,3");
  EXPECT_EQ(option_text(problem),
            "--seq 5 --batch 3 --heads 4 --dhead 64 --dtype FP16 --seq-kv 7 --kv-heads 2 "
            "--seq-kv-lens 7,2,1 --seq-lens 5,0,3");
}

TEST(Packed, TheSmallAndTheProbeProblemHaveLengthsThatDifferToo) {
  const Problem problem = packed(64, "uniform:1-4096");
  const Problem small = small_problem(problem);
  EXPECT_NO_THROW(check_problem(small));
  EXPECT_THAT(query_lengths(small), ElementsAre(256, 0, 171, 1));
  EXPECT_EQ(small_problem(small), small);
  EXPECT_THAT(query_lengths(probe_problem(problem)), ElementsAre(4096, 0, 2731, 1));
  const Problem chunked = small_problem(packed(64, "uniform:1-300", "uniform:1-4096"));
  EXPECT_NO_THROW(check_problem(chunked));
  EXPECT_THAT(query_lengths(chunked), ElementsAre(300, 1, 201, 0));
  EXPECT_THAT(kv_lengths(chunked), ElementsAre(256, 0, 171, 1));
  EXPECT_THAT(query_lengths(probe_problem(packed(1, "5", "9"))), ElementsAre(5));
}

TEST(Packed, FlopAndBytesAreSumsOverTheSequences) {
  for (const Problem& problem : varied_packed_problems()) {
    double needed = 0.0, attention = 0.0;
    std::int64_t bytes = 0, without_keys = 0;
    for (const Sequence& sequence : sequences_of(problem)) {
      if (sequence.queries == 0) {
        continue;
      }
      if (sequence.keys == 0) {
        bytes += sequence.queries * problem.heads * problem.d_head * 2;
        without_keys += problem.heads * sequence.queries;
        continue;
      }
      const Problem one = alone(problem, sequence);
      needed += needed_flop(one);
      attention += attention_flop(one);
      bytes += needed_input_bytes(one);
      without_keys += rows_without_keys(one);
    }
    EXPECT_EQ(needed_flop(problem), needed) << describe(problem);
    EXPECT_EQ(literature_flop(problem), needed) << describe(problem);
    EXPECT_EQ(attention_flop(problem), attention) << describe(problem);
    EXPECT_EQ(needed_input_bytes(problem), bytes) << describe(problem);
    EXPECT_EQ(rows_without_keys(problem), without_keys) << describe(problem);
  }
}

std::vector<double> normal_numbers(std::int64_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  std::vector<double> values(static_cast<std::size_t>(count));
  std::ranges::generate(values, [&] { return normal(random); });
  return values;
}

/// Rows of a packed tensor, where they are neighbours.
std::vector<double> packed_rows(const Problem& problem, TensorRole role, std::int64_t first,
                                std::int64_t count, const std::vector<double>& all) {
  const TensorShape shape = tensor_shape(problem, role);
  const auto begin = all.begin() + first * shape.row_stride;
  return {begin, begin + count * shape.row_stride};
}

TEST(Packed, TheReferenceIsThatOfEachSequenceAlone) {
  for (const Problem& problem : varied_packed_problems()) {
    const std::vector<double> q = normal_numbers(tensor_elements(problem, TensorRole::q), 1);
    const std::vector<double> k = normal_numbers(tensor_elements(problem, TensorRole::k), 2);
    const std::vector<double> v = normal_numbers(tensor_elements(problem, TensorRole::v), 3);
    const std::vector<double> o = cpu_attention(problem, q, k, v);
    const std::vector<double> lse = cpu_log_sum_exp(problem, q, k);
    for (const Sequence& at : sequences_of(problem)) {
      const auto one_o = packed_rows(problem, TensorRole::o, at.first_query, at.queries, o);
      if (at.keys == 0) {
        EXPECT_THAT(one_o, Each(0.0));
        continue;
      }
      if (at.queries == 0) {
        continue;
      }
      const Problem one = alone(problem, at);
      const auto one_q = packed_rows(problem, TensorRole::q, at.first_query, at.queries, q);
      const auto one_k = packed_rows(problem, TensorRole::k, at.first_key, at.keys, k);
      const auto one_v = packed_rows(problem, TensorRole::v, at.first_key, at.keys, v);
      EXPECT_EQ(one_o, cpu_attention(one, one_q, one_k, one_v)) << describe(problem);
      const std::vector<double> one_lse = cpu_log_sum_exp(one, one_q, one_k);
      const std::int64_t all = rows_per_output_head(problem);
      for (std::int64_t head = 0; head < problem.heads; ++head) {
        for (std::int64_t row = 0; row < at.queries; ++row) {
          EXPECT_EQ(lse[static_cast<std::size_t>(head * all + at.first_query + row)],
                    one_lse[static_cast<std::size_t>(head * at.queries + row)]);
        }
      }
    }
  }
}

TEST(Packed, SamplesHaveFirstAndLastRowsOfSequences) {
  const Problem problem = packed(40, "uniform:0-4000");
  const RowSample sample = sample_rows(problem, 3);
  ASSERT_FALSE(sample.all_rows);
  EXPECT_EQ(std::ssize(sample.rows), problem.heads * sample.rows_per_head);
  const auto total = static_cast<std::int32_t>(total_queries(problem));
  EXPECT_THAT(sample.rows, Each(Lt(total)));
  const std::set<std::int32_t> rows(sample.rows.begin(), sample.rows.end());
  for (const Sequence& sequence : sequences_of(problem)) {
    if (sequence.queries > 0) {
      EXPECT_TRUE(rows.contains(static_cast<std::int32_t>(sequence.first_query)));
      EXPECT_TRUE(
          rows.contains(static_cast<std::int32_t>(sequence.first_query + sequence.queries - 1)));
    }
  }
  for (std::int64_t head = 0; head < problem.heads; ++head) {
    const auto first = sample.rows.begin() + head * sample.rows_per_head;
    EXPECT_TRUE(std::is_sorted(first, first + sample.rows_per_head));
  }
}

}  // namespace
}  // namespace fatune

#include "model/kv_lengths.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "model/cpu_reference.hpp"
#include "model/flop.hpp"
#include "unit/base/throws_error.hpp"

namespace fatune {
namespace {

using testing::ElementsAre;

Problem with_lengths(std::int64_t batch, const std::string& text) {
  Problem problem{batch, 1, 4, 64};
  problem.seq_lens_kv = canonical_lengths(text);
  problem.seq_len_kv = std::max<std::int64_t>(1, greatest_length(problem.seq_lens_kv));
  return problem;
}

std::vector<std::int64_t> drawn(std::int64_t batch, const std::string& text) {
  return kv_lengths(with_lengths(batch, text));
}

TEST(KvLengths, HaveOneForm) {
  EXPECT_EQ(canonical_lengths("4096, 17 ,0"), "4096,17,0");
  EXPECT_EQ(canonical_lengths("007"), "7");
  EXPECT_EQ(canonical_lengths("uniform:1-8"), "uniform:1-8:0");
  EXPECT_EQ(canonical_lengths("uniform:1-8:18446744073709551615"),
            "uniform:1-8:18446744073709551615");
  EXPECT_EQ(canonical_lengths("zipf:0-16777216"), "zipf:0-16777216:1:0");
  EXPECT_EQ(canonical_lengths("zipf:5-9:2"), "zipf:5-9:2:0");
  EXPECT_EQ(canonical_lengths("zipf:5-9:2:3"), "zipf:5-9:2:3");
}

TEST(KvLengths, OtherTextsAreRefusedWithAReason) {
  const auto refused = [](const std::string& text, const std::string& why) {
    fixtures::expect_error([&] { (void)canonical_lengths(text); }, ExitCode::usage,
                           {why, "uniform:LOW-HIGH[:SEED]"});
  };
  refused("", "'' is not an integer from 0 to 16777216");
  refused("1,,2", "''");
  refused("1,2,", "''");
  refused("4,-1", "'-1'");
  refused("16777217", "'16777217'");
  refused("1.5", "'1.5'");
  refused("normal:1-2", "there is no 'normal'");
  refused("uniform:", "''");
  refused("uniform:7", "''");
  refused("uniform:9-8", "9 is greater than 8");
  refused("uniform:1-2:3:4", "too many parts");
  refused("uniform:1-2:18446744073709551616", "'18446744073709551616'");
  refused("zipf:1-2:17", "'17' is not an integer from 0 to 16");
  refused("zipf:1-2:1.5", "'1.5'");
  refused("zipf:1-2:1:0:0", "too many parts");
  refused("zipf:-1-2", "''");
}

// Computed in Python by the formulas of docs/measurement.md.
TEST(KvLengths, DistributionsHaveTheDocumentedValues) {
  EXPECT_THAT(drawn(6, "uniform:1024-8192"), ElementsAre(7356, 4117, 1213, 7984, 1786, 3370));
  EXPECT_THAT(drawn(4, "uniform:0-16777216:12345678901234567890"),
              ElementsAre(16341461, 9364669, 5653439, 4147563));
  EXPECT_THAT(drawn(12, "uniform:0-1:3"), ElementsAre(0, 1, 1, 0, 0, 1, 0, 1, 0, 1, 1, 1));
  EXPECT_THAT(drawn(10, "zipf:64-8192"),
              ElementsAre(1024, 1365, 8192, 819, 4096, 1638, 2730, 1170, 2048, 910));
  EXPECT_THAT(drawn(8, "zipf:0-1000:2:7"), ElementsAre(62, 1000, 15, 20, 40, 250, 27, 111));
  EXPECT_THAT(drawn(3, "zipf:5-9:0:1"), ElementsAre(9, 9, 9));
  EXPECT_THAT(drawn(3, "4,0,9"), ElementsAre(4, 0, 9));
  EXPECT_THAT(kv_lengths({2, 5, 1, 64}), ElementsAre(5, 5)) << "no lengths";
}

// For random texts: reading the form that problems hold gives that form; lengths are within the
// bounds that the text names; the longest of zipf is HIGH.
TEST(KvLengths, AnyTextIsKeptAndGivesLengthsWithinItsBounds) {
  std::mt19937_64 random(5);
  const auto below = [&](std::uint64_t end) { return random() % end; };
  for (int i = 0; i < 500; ++i) {
    const auto low = static_cast<std::int64_t>(below(3000));
    const std::int64_t high = low + static_cast<std::int64_t>(below(5000));
    const auto batch = static_cast<std::int64_t>(1 + below(70));
    const bool is_zipf = below(2) == 0;
    const std::string text = is_zipf
                                 ? fmt::format("zipf:{}-{}:{}:{}", low, high, below(17), random())
                                 : fmt::format("uniform:{}-{}:{}", low, high, random());
    const Problem problem = with_lengths(batch, text);
    EXPECT_EQ(problem.seq_lens_kv, text);
    EXPECT_NO_THROW(check_problem(problem));
    const std::vector<std::int64_t> lengths = kv_lengths(problem);
    ASSERT_EQ(std::ssize(lengths), batch) << text;
    EXPECT_GE(std::ranges::min(lengths), low) << text;
    EXPECT_LE(std::ranges::max(lengths), high) << text;
    EXPECT_TRUE(!is_zipf || std::ranges::max(lengths) == high) << text;
    EXPECT_EQ(total_keys(problem), std::accumulate(lengths.begin(), lengths.end(), 0)) << text;
    const Problem listed = with_kv_lengths(problem, lengths);
    EXPECT_EQ(canonical_lengths(listed.seq_lens_kv), listed.seq_lens_kv);
    EXPECT_EQ(kv_lengths(listed), lengths);
  }
}

TEST(KvLengths, ThatAreUnknownAreAsLongAsThereIsRoom) {
  Problem problem = with_lengths(3, "zipf:1-900");
  problem.seq_len_kv = 1000;
  for (const std::string& text : {std::string(), problem.seq_lens_kv}) {
    problem.seq_lens_kv = text;
    const Problem unknown = with_unknown_kv_lengths(problem);
    EXPECT_THAT(kv_lengths(unknown), ElementsAre(1000, 1000, 1000));
    EXPECT_EQ(canonical_lengths(unknown.seq_lens_kv), unknown.seq_lens_kv);
    EXPECT_NO_THROW(check_problem(unknown));
  }
}

TEST(KvLengths, MustFitTheProblem) {
  Problem problem = with_lengths(2, "7,9");
  EXPECT_NO_THROW(check_problem(problem));
  problem.batch = 3;
  fixtures::expect_error([&] { check_problem(problem); }, ExitCode::usage,
                         {"2 lengths of keys for a batch of 3"});
  problem.batch = 2;
  problem.seq_len_kv = 8;
  fixtures::expect_error([&] { check_problem(problem); }, ExitCode::usage,
                         {"allows 9 keys, but K and V have room for 8"});
}

TEST(KvLengths, OfAFilesImpossibleProblemTakeNoEndOfMemory) {
  EXPECT_GT(needed_flop(with_lengths(std::int64_t{1} << 50, "uniform:1-9")), 0.0);
  EXPECT_EQ(needed_flop(with_lengths(-1, "zipf:1-9")), 0.0);
}

TEST(KvLengths, NameTheProblem) {
  const Problem drawn = with_lengths(4, "uniform:1024-8192:1");
  EXPECT_EQ(describe(drawn), "b4 s1 h4 d64 FP16 kv8192 lens uniform:1024-8192:1");
  EXPECT_EQ(option_text(drawn),
            "--seq 1 --batch 4 --heads 4 --dhead 64 --dtype FP16 --seq-kv 8192 --seq-kv-lens "
            "uniform:1024-8192:1");
  std::vector<std::int64_t> lengths(64, 1000);
  const std::string first = describe(with_kv_lengths(drawn, lengths));
  lengths[63] = 999;
  const std::string second = describe(with_kv_lengths(drawn, lengths));
  EXPECT_THAT(first, testing::MatchesRegex("b64 s1 h4 d64 FP16 kv8192 lens 64 listed [0-9a-f]{8}"));
  EXPECT_NE(first, second);
  EXPECT_THAT(option_text(with_kv_lengths(drawn, lengths)), testing::HasSubstr("1000,999"));
}

TEST(KvLengths, StayWhenTheProblemIsChanged) {
  const Problem problem = with_lengths(4, "1,2,3,4");
  EXPECT_EQ(changed(problem, [](Problem& p) { p.heads = 8; }).seq_lens_kv, "1,2,3,4");
}

TEST(KvLengths, OfTheSmallAndTheProbeProblemDifferToo) {
  const Problem problem = with_lengths(64, "uniform:1-4096");
  const Problem small = small_problem(problem);
  EXPECT_NO_THROW(check_problem(small));
  EXPECT_THAT(kv_lengths(small), ElementsAre(256, 0, 171, 1));
  EXPECT_EQ(small_problem(small), small);
  EXPECT_THAT(kv_lengths(probe_problem(problem)), ElementsAre(4096, 0, 2731, 1));
  EXPECT_THAT(kv_lengths(probe_problem(with_lengths(2, "5,4096"))), ElementsAre(4096, 0));
  EXPECT_THAT(kv_lengths(small_problem(with_lengths(1, "1"))), ElementsAre(1, 0, 1, 1));
}

/// Sequence `batch` of a problem with lengths, as a problem of its own. It must have keys.
Problem sequence_of(Problem problem, std::int64_t keys) {
  problem.batch = 1;
  problem.seq_len_kv = keys;
  problem.seq_lens_kv.clear();
  return problem;
}

// Masks that leave out keys of some sequences, and rows without keys.
std::vector<Problem> varied_problems() {
  Problem problem = with_lengths(5, "40,1,0,17,6");
  problem.seq_len = 6;
  problem.kv_heads = 2;
  problem.d_head = 8;
  problem.d_head_v = 16;
  std::vector<Problem> problems;
  for (const bool causal : {false, true}) {
    for (const std::int64_t window : {0, 3, 20}) {
      problem.causal = causal;
      problem.window = window;
      problems.push_back(problem);
    }
  }
  return problems;
}

TEST(KvLengths, FlopAndBytesAreSumsOverTheSequences) {
  for (const Problem& problem : varied_problems()) {
    double needed = 0.0, attention = 0.0, pairs = 0.0;
    std::int64_t bytes = 0, without_keys = 0;
    for (const std::int64_t keys : kv_lengths(problem)) {
      if (keys == 0) {
        bytes += tensor_bytes(sequence_of(problem, 1), TensorRole::q);
        without_keys += problem.heads * problem.seq_len;
        continue;
      }
      const Problem one = sequence_of(problem, keys);
      needed += needed_flop(one);
      attention += attention_flop(one);
      pairs += visible_pairs(one);
      bytes += needed_input_bytes(one);
      without_keys += rows_without_keys(one);
    }
    EXPECT_EQ(needed_flop(problem), needed) << describe(problem);
    EXPECT_EQ(literature_flop(problem), needed) << describe(problem);
    EXPECT_EQ(attention_flop(problem), attention) << describe(problem);
    EXPECT_EQ(visible_pairs(problem), pairs) << describe(problem);
    EXPECT_EQ(needed_input_bytes(problem), bytes) << describe(problem);
    EXPECT_EQ(rows_without_keys(problem), without_keys) << describe(problem);
  }
}

/// Normal numbers for a tensor.
std::vector<double> normal_values(std::int64_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  std::vector<double> values(static_cast<std::size_t>(count));
  std::ranges::generate(values, [&] { return normal(random); });
  return values;
}

/// The first `rows` rows of a sequence, in layout bshd, where they are neighbours.
std::vector<double> rows_of(const Problem& problem, TensorRole role, std::int64_t batch,
                            std::int64_t rows, const std::vector<double>& all) {
  const TensorShape shape = tensor_shape(problem, role);
  const auto first = all.begin() + batch * shape.batch_stride;
  return {first, first + rows * shape.row_stride};
}

// Rows behind a sequence's end are NaN, which every use would show.
TEST(KvLengths, TheReferenceIsThatOfEachSequenceAlone) {
  for (const Problem& problem : varied_problems()) {
    const std::vector<double> q = normal_values(tensor_elements(problem, TensorRole::q), 1);
    std::vector<double> k = normal_values(tensor_elements(problem, TensorRole::k), 2);
    std::vector<double> v = normal_values(tensor_elements(problem, TensorRole::v), 3);
    const std::vector<std::int64_t> lengths = kv_lengths(problem);
    std::vector<double> want;
    std::vector<double> want_lse;
    for (std::int64_t batch = 0; batch < problem.batch; ++batch) {
      const std::int64_t keys = lengths[static_cast<std::size_t>(batch)];
      const std::int64_t rows = problem.heads * problem.seq_len;
      if (keys == 0) {
        want.insert(want.end(), static_cast<std::size_t>(rows * problem.d_head_v), 0.0);
        want_lse.insert(want_lse.end(), static_cast<std::size_t>(rows), -INFINITY);
      } else {
        const Problem one = sequence_of(problem, keys);
        const auto of = [&](TensorRole role, std::int64_t count, const std::vector<double>& all) {
          return rows_of(problem, role, batch, count, all);
        };
        const auto one_q = of(TensorRole::q, problem.seq_len, q);
        const auto one_k = of(TensorRole::k, keys, k);
        const auto o = cpu_attention(one, one_q, one_k, of(TensorRole::v, keys, v));
        const auto lse = cpu_log_sum_exp(one, one_q, one_k);
        want.insert(want.end(), o.begin(), o.end());
        want_lse.insert(want_lse.end(), lse.begin(), lse.end());
      }
      for (auto& [role, tensor] : {std::pair(TensorRole::k, &k), std::pair(TensorRole::v, &v)}) {
        const TensorShape shape = tensor_shape(problem, role);
        const auto begin = tensor->begin() + batch * shape.batch_stride;
        std::fill(begin + keys * shape.row_stride, begin + shape.batch_stride, NAN);
      }
    }
    EXPECT_EQ(cpu_attention(problem, q, k, v), want) << describe(problem);
    EXPECT_EQ(cpu_log_sum_exp(problem, q, k), want_lse) << describe(problem);
  }
}

}  // namespace
}  // namespace fatune

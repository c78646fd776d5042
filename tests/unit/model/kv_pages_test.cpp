#include "model/kv_pages.hpp"

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
#include "model/kv_lengths.hpp"
#include "unit/base/throws_error.hpp"

namespace fatune {
namespace {

Problem with_pages(std::int64_t batch, std::int64_t keys, std::int64_t page_size) {
  Problem problem{batch, 1, 4, 64};
  problem.kv_heads = 2;
  problem.seq_len_kv = keys;
  problem.page_size = page_size;
  return problem;
}

TEST(KvPages, HaveSizesThatArePowersOfTwo) {
  for (std::int64_t size = 0; size <= kMostPageSize; ++size) {
    const bool is_possible = size == 0 || (size & (size - 1)) == 0;
    const auto check = [&] { check_problem(with_pages(2, 100, size)); };
    if (is_possible) {
      EXPECT_NO_THROW(check()) << size;
    } else {
      fixtures::expect_error(check, ExitCode::usage, {"page_size is", "a power of two from 1"});
    }
  }
  for (const std::int64_t size : {-1, 512}) {
    fixtures::expect_error([&] { check_problem(with_pages(2, 100, size)); }, ExitCode::usage,
                           {"page_size is", "from 0 to 256"});
  }
}

TEST(KvPages, AreNumberedByIntegersOf32Bits) {
  fixtures::expect_error([] { check_problem(with_pages(65535, kMostSeqLen, 4)); }, ExitCode::usage,
                         {"too many pages of 4 keys", "2147483647"});
  EXPECT_NO_THROW(check_problem(with_pages(1024, 1 << 20, 16)));
}

TEST(KvPages, AreNamedByTheProblem) {
  const Problem problem = with_pages(2, 100, 16);
  EXPECT_EQ(describe(problem), "b2 s1 h4 d64 FP16 kv100 hkv2 page16");
  EXPECT_THAT(option_text(problem), testing::HasSubstr("--page-size 16"));
  EXPECT_EQ(changed(problem, [](Problem& p) { p.batch = 3; }).page_size, 16);
  EXPECT_EQ(without_pages(problem).page_size, 0);
}

TEST(KvPages, AreTheBatchOfThePools) {
  Problem problem = with_pages(3, 100, 16);
  problem.d_head_v = 32;
  EXPECT_EQ(pages_of_sequence(problem), 7);
  EXPECT_EQ(pool_pages(problem), 21 + 2 + 1);
  const TensorShape k = tensor_shape(problem, TensorRole::k);
  EXPECT_EQ(k.batch, 24);
  EXPECT_EQ(k.rows, 16);
  EXPECT_EQ(k.row_stride, 2 * 64);
  EXPECT_EQ(k.batch_stride, 16 * 2 * 64);
  problem.layout = Layout::bhsd;
  const TensorShape v = tensor_shape(problem, TensorRole::v);
  EXPECT_EQ(v.row_stride, 32);
  EXPECT_EQ(v.head_stride, 16 * 32);
  EXPECT_EQ(v.batch_stride, 2 * 16 * 32);
  EXPECT_EQ(tensor_shape(problem, TensorRole::q).batch, 3);
}

// Sequences take their pages in no order, and the table says nothing of those behind their ends.
TEST(KvPages, AreUsedOnceInARandomOrder) {
  Problem problem = with_pages(4, 100, 8);
  problem.seq_lens_kv = "100,0,1,57";
  const std::vector<std::int32_t> table = page_table(problem);
  ASSERT_EQ(table.size(), 4U * 13U);
  std::set<std::int32_t> used;
  for (std::size_t sequence = 0; sequence < 4; ++sequence) {
    const std::size_t pages = std::vector<std::size_t>{13, 0, 1, 8}[sequence];
    for (std::size_t i = 0; i < 13; ++i) {
      const std::int32_t entry = table[sequence * 13 + i];
      if (i >= pages) {
        EXPECT_EQ(entry, kNoPage);
        continue;
      }
      EXPECT_GE(entry, 0);
      EXPECT_LT(entry, pool_pages(problem));
      EXPECT_TRUE(used.insert(entry).second) << entry << " is used twice";
    }
  }
  EXPECT_FALSE(std::ranges::is_sorted(table.begin(), table.begin() + 13));
  EXPECT_EQ(page_table(problem), table);
  EXPECT_NE(page_table(problem, 1), table);
}

TEST(KvPages, StayInProblemsThatStandForOthers) {
  const Problem problem = with_pages(64, 5000, 64);
  for (const Problem& other : {small_problem(problem), probe_problem(problem)}) {
    EXPECT_EQ(other.page_size, 64);
    EXPECT_NO_THROW(check_problem(other));
  }
  EXPECT_EQ(needed_input_bytes(problem), needed_input_bytes(without_pages(problem)));
  EXPECT_EQ(needed_flop(problem), needed_flop(without_pages(problem)));
}

/// A packed batch in which sequences without keys or queries are between others.
Problem packed_with_pages(std::int64_t page_size) {
  Problem problem = with_pages(4, 40, page_size);
  problem.seq_len = 5;
  problem.seq_lens = "5,0,3,2";
  problem.seq_lens_kv = "40,7,0,33";
  return problem;
}

TEST(KvPages, OfAPackedBatchAreThoseThatItsSequencesFill) {
  const Problem problem = packed_with_pages(16);
  EXPECT_EQ(pages_of_sequence(problem), 3);
  EXPECT_EQ(pool_pages(problem), (3 + 1 + 0 + 3) + 0 + 1);
  EXPECT_EQ(tensor_shape(problem, TensorRole::q).rows, 10);
  const TensorShape shape = tensor_shape(problem, TensorRole::k);
  EXPECT_EQ(shape.rows, 16);
  const KeyRows rows(problem, TensorRole::k);
  const std::vector<std::int32_t> table = page_table(problem);
  EXPECT_EQ(rows.offset(0, 39, 1), shape.row_offset(table[2], 7, 1));
  EXPECT_EQ(rows.offset(0, 40, 1), shape.row_offset(table[3], 0, 1));
  EXPECT_EQ(rows.offset(0, 47, 0), shape.row_offset(table[9], 0, 0)) << "the last sequence's first";
}

/// Copies the keys of contiguous K or V to their pages; the rest of the pool is NaN.
std::vector<double> pool_of(const Problem& problem, TensorRole role,
                            const std::vector<double>& contiguous) {
  const TensorShape from = tensor_shape(without_pages(problem), role);
  const KeyRows to(problem, role);
  std::vector<double> pool(static_cast<std::size_t>(tensor_elements(problem, role)), NAN);
  for (std::int64_t batch = 0; batch < from.batch; ++batch) {
    const std::int64_t keys =
        is_packed(problem) ? from.rows : kv_lengths(problem)[static_cast<std::size_t>(batch)];
    for (std::int64_t key = 0; key < keys; ++key) {
      for (std::int64_t head = 0; head < from.heads; ++head) {
        const auto row = contiguous.begin() + from.row_offset(batch, key, head);
        std::copy(row, row + from.columns, pool.begin() + to.offset(batch, key, head));
      }
    }
  }
  return pool;
}

/// The references of the problem are those of the same keys without pages.
void expect_same_references(const Problem& problem) {
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  const Problem contiguous = without_pages(problem);
  const auto values = [&](TensorRole role) {
    std::vector<double> all(static_cast<std::size_t>(tensor_elements(contiguous, role)));
    std::ranges::generate(all, [&] { return normal(random); });
    return all;
  };
  const std::vector<double> q = values(TensorRole::q);
  const std::vector<double> k = values(TensorRole::k);
  const std::vector<double> v = values(TensorRole::v);
  const std::vector<double> pool_k = pool_of(problem, TensorRole::k, k);
  const std::vector<double> pool_v = pool_of(problem, TensorRole::v, v);
  EXPECT_EQ(cpu_attention(problem, q, pool_k, pool_v), cpu_attention(contiguous, q, k, v));
  EXPECT_EQ(cpu_log_sum_exp(problem, q, pool_k), cpu_log_sum_exp(contiguous, q, k));
}

TEST(KvPages, HaveTheReferenceOfContiguousKeys) {
  for (const Layout layout : {Layout::bshd, Layout::bhsd}) {
    for (const std::int64_t page_size : {1, 4, 16, 256}) {
      Problem problem = with_pages(4, 40, page_size);
      problem.seq_len = 3;
      problem.d_head = 8;
      problem.d_head_v = 16;
      problem.causal = true;
      problem.window = 20;
      problem.layout = layout;
      problem.seq_lens_kv = "40,0,1,33";
      expect_same_references(problem);
    }
  }
}

TEST(KvPages, OfAPackedBatchHaveTheReferenceOfContiguousKeys) {
  for (const std::int64_t page_size : {1, 8, 64}) {
    Problem problem = packed_with_pages(page_size);
    problem.d_head = problem.d_head_v = 8;
    problem.causal = true;
    expect_same_references(problem);
  }
}

}  // namespace
}  // namespace fatune

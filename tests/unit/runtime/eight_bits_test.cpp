// The choice for problems whose K and V have 8 bits: by rows and defaults that share their machine
// code.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "runtime/choose.hpp"

namespace fatune_attention::detail {
namespace {

constexpr TunedGpu kOneGpu{"GPU A", 90, 132};
constexpr RowConfig kOneConfig[] = {{0, 10.0, 0.0}};

Problem cached(KvDType kv_dtype, KvScales kv_scales = KvScales::tensor) {
  Problem problem;
  problem.dtype = DType::bf16;
  problem.batch = 8;
  problem.heads = 32;
  problem.kv_heads = 8;
  problem.seq_len = 1;
  problem.seq_len_kv = 4096;
  problem.d_head = problem.d_head_v = 128;
  problem.kv_dtype = kv_dtype;
  problem.kv_scales = kv_scales;
  return problem;
}

/// How a problem is chosen for by one row; Step::refused: not at all.
Step step_by(const Problem& row, const Problem& wanted) {
  const Row rows[] = {{0, row, false, kOneConfig, 1}};
  const Table table{{}, {}, {&kOneGpu, 1}, {rows, 1}, {}, {}, {}};
  const Problem like = problem_of_rows(wanted);
  const auto near = next_near_row(table, {like, false, wanted.page_size > 0}, kOneGpu, nullptr);
  return near ? near->step : Step::refused;
}

TEST(EightBits, HaveRowsOfTheirOwn) {
  const KvDType types[] = {KvDType::of_q, KvDType::e4m3, KvDType::e5m2};
  for (const KvDType row : types) {
    for (const KvDType wanted : types) {
      EXPECT_EQ(step_by(cached(row), cached(wanted)), row == wanted ? Step::exact : Step::refused);
    }
  }
}

TEST(EightBits, ShareRowsAsFarAsTheyShareMachineCode) {
  const auto of = [](KvScales scales) { return cached(KvDType::e4m3, scales); };
  EXPECT_EQ(step_by(of(KvScales::tensor), of(KvScales::head)), Step::same_bucket);
  EXPECT_EQ(step_by(of(KvScales::head), of(KvScales::tensor)), Step::same_bucket);
  EXPECT_EQ(step_by(of(KvScales::token), of(KvScales::token)), Step::exact);
  EXPECT_EQ(step_by(of(KvScales::head), of(KvScales::token)), Step::refused);
  EXPECT_EQ(step_by(of(KvScales::token), of(KvScales::tensor)), Step::refused);
}

TEST(EightBits, OfPagesHaveTheRowsOfKeys) {
  Problem paged = cached(KvDType::e4m3, KvScales::page);
  paged.page_size = 16;
  paged.pool_pages = 2048;
  EXPECT_EQ(step_by(cached(KvDType::e4m3, KvScales::token), paged), Step::same_bucket);
  EXPECT_EQ(step_by(cached(KvDType::e4m3, KvScales::head), paged), Step::refused);
  EXPECT_EQ(problem_of_rows(paged).kv_scales, KvScales::token);
}

TEST(EightBits, HaveDefaultsOfTheirOwn) {
  const Default defaults[] = {{0, DType::bf16, 128, 128, false, true, 0},
                              {0, DType::bf16, 64, 64, false, true, 1, {KvDType::e4m3, false}},
                              {0, DType::bf16, 128, 128, false, true, 2, {KvDType::e4m3, true}}};
  const Table table{{}, {}, {&kOneGpu, 1}, {}, {defaults, 3}, {}, {}};
  const auto tried = [&](const Problem& problem) {
    std::vector<int> indices;
    auto place = next_default(table, problem, kOneGpu, nullptr);
    for (; place; place = next_default(table, problem, kOneGpu, &*place)) {
      indices.push_back(place->index);
    }
    return indices;
  };
  EXPECT_THAT(tried(cached(KvDType::of_q)), testing::ElementsAre(0));
  EXPECT_THAT(tried(cached(KvDType::e4m3, KvScales::head)), testing::ElementsAre(1));
  EXPECT_THAT(tried(cached(KvDType::e4m3, KvScales::token)), testing::ElementsAre(2));
  EXPECT_THAT(tried(cached(KvDType::e5m2)), testing::IsEmpty());
}

TEST(EightBits, AreSaidToBeUnlikeWhatWasTuned) {
  const auto text_of = [](const Problem& row, const Problem& wanted) {
    const Row rows[] = {{0, row, false, kOneConfig, 1}};
    const Table table{{}, {}, {&kOneGpu, 1}, {rows, 1}, {}, {}, {}};
    return std::string(untuned(table, {wanted, false}, kOneGpu, Step::fallback).text);
  };
  EXPECT_EQ(text_of(cached(KvDType::e4m3), cached(KvDType::e5m2)), "K and V: E5M2; tuned: E4M3");
  EXPECT_EQ(text_of(cached(KvDType::of_q), cached(KvDType::e4m3)), "K and V: E4M3; tuned: as Q");
  EXPECT_EQ(text_of(cached(KvDType::e4m3), cached(KvDType::e4m3, KvScales::token)),
            "scales of K and V: of each key; tuned: of heads or all");
}

}  // namespace
}  // namespace fatune_attention::detail

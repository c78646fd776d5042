#include "runtime/facts.hpp"

#include <gtest/gtest.h>

#include "model/problem.hpp"
#include "unit/runtime/sample_table.hpp"

namespace fatune_attention::detail {
namespace {

Tensor tensor_of(const fatune::Problem& problem, fatune::TensorRole role) {
  const fatune::TensorShape shape = tensor_shape(problem, role);
  return {nullptr, shape.batch_stride, shape.head_stride, shape.row_stride};
}

fatune::Problem same_problem(const Problem& problem, fatune::Layout layout) {
  fatune::Problem same{problem.batch, problem.seq_len, problem.heads, problem.d_head};
  same.seq_len_kv = problem.seq_len_kv;
  same.kv_heads = problem.kv_heads;
  same.d_head_v = problem.d_head_v;
  same.layout = layout;
  return same;
}

Tensors tensors_of(const Problem& problem, fatune::Layout layout) {
  using fatune::TensorRole;
  const fatune::Problem same = same_problem(problem, layout);
  return {tensor_of(same, TensorRole::q), tensor_of(same, TensorRole::k),
          tensor_of(same, TensorRole::v), tensor_of(same, TensorRole::o), nullptr};
}

Problem unlike_problem() {
  Problem problem = tuned_problem();
  problem.kv_heads = 4;
  problem.seq_len_kv = 5000;
  problem.d_head_v = 64;
  return problem;
}

TEST(Facts, HaveTheStridesOfEitherLayout) {
  const Problem problem = unlike_problem();
  for (const fatune::Layout layout : {fatune::Layout::bshd, fatune::Layout::bhsd}) {
    const Tensors tensors = tensors_of(problem, layout);
    const Facts facts = facts_of(problem, tensors, fake_h200());
    EXPECT_EQ(facts.layout_bhsd, layout == fatune::Layout::bhsd ? 1.0 : 0.0);
    EXPECT_EQ(facts.k_row_stride, static_cast<double>(tensors.k.row_stride));
    EXPECT_EQ(facts.v_head_stride, static_cast<double>(tensors.v.head_stride));
    EXPECT_EQ(facts.o_batch_stride, static_cast<double>(tensors.o.batch_stride));
    for (const ShapedTensor& shaped : shaped_tensors(problem, tensors)) {
      EXPECT_TRUE(is_contiguous(shaped, layout == fatune::Layout::bhsd));
      EXPECT_FALSE(is_contiguous(shaped, layout == fatune::Layout::bshd));
    }
  }
}

TEST(Facts, HaveTheProblemAndTheDevice) {
  Problem problem = unlike_problem();
  problem.lse = true;
  problem.window = 100;
  const Facts facts = facts_of(problem, usual_tensors(problem), fake_h200());
  EXPECT_EQ(facts.batch, 4);
  EXPECT_EQ(facts.heads, 16);
  EXPECT_EQ(facts.kv_heads, 4);
  EXPECT_EQ(facts.seq_len, 4096);
  EXPECT_EQ(facts.seq_len_kv, 5000);
  EXPECT_EQ(facts.d_head, 128);
  EXPECT_EQ(facts.d_head_v, 64);
  EXPECT_EQ(facts.dtype, 15);
  EXPECT_EQ(facts.causal, 1);
  EXPECT_EQ(facts.window, 100);
  EXPECT_EQ(facts.lse, 1);
  EXPECT_EQ(facts.arch, 90);
  EXPECT_EQ(facts.sm_count, 132);
  EXPECT_EQ(facts.smem_per_block_optin_bytes, 232448);
  EXPECT_EQ(facts.smem_per_sm_bytes, 233472);
  EXPECT_EQ(facts.registers_per_sm, 65536);
  EXPECT_EQ(facts.max_threads_per_sm, 2048);
  EXPECT_EQ(facts.resident_blocks_per_sm, 1);
}

TEST(Facts, HaveTheTypeOfKAndV) {
  static_assert(static_cast<int>(KvDType::e4m3) == static_cast<int>(fatune::DType::e4m3));
  static_assert(static_cast<int>(KvDType::e5m2) == static_cast<int>(fatune::DType::e5m2));
  static_assert(static_cast<int>(KvScales::head) == static_cast<int>(fatune::KvScales::head));
  static_assert(static_cast<int>(KvScales::page) == static_cast<int>(fatune::KvScales::page));
  Problem problem = unlike_problem();
  EXPECT_EQ(facts_of(problem, usual_tensors(problem), fake_h200()).kv_dtype, 15);
  problem.kv_dtype = KvDType::e4m3;
  problem.kv_scales = KvScales::token;
  const Facts facts = facts_of(problem, usual_tensors(problem), fake_h200());
  EXPECT_EQ(facts.dtype, 15);
  EXPECT_EQ(facts.kv_dtype, 24);
  EXPECT_EQ(facts.kv_scales, 2);
}

TEST(Facts, HaveTheMostKeysThatLengthsAllow) {
  Problem problem = unlike_problem();
  const Facts without = facts_of(problem, usual_tensors(problem), fake_h200());
  EXPECT_EQ(without.has_seq_lens_kv, 0);
  EXPECT_EQ(without.keys_total, 20000);
  problem.has_seq_lens_kv = true;
  const std::int32_t lengths[] = {7, 0, 5000, 1};
  Tensors tensors = usual_tensors(problem);
  tensors.seq_lens_kv = lengths;
  const Facts facts = facts_of(problem, tensors, fake_h200());
  EXPECT_EQ(facts.has_seq_lens_kv, 1);
  EXPECT_EQ(facts.keys_total, 20000);
  EXPECT_EQ(facts.k_batch_stride, without.k_batch_stride);
}

TEST(Facts, ScaleScoresAsFatuneDoes) {
  Problem problem = tuned_problem();
  for (const std::int64_t d_head : {1, 64, 80, 128, 1024}) {
    problem.d_head = d_head;
    EXPECT_EQ(softmax_scale_of(problem), fatune::usual_softmax_scale(d_head));
  }
  problem.softmax_scale = 0.25F;
  EXPECT_EQ(softmax_scale_of(problem), 0.25F);
}

TEST(Facts, DoNotDependOnStridesAlongOneElement) {
  Problem problem = tuned_problem();
  problem.batch = 1;
  problem.seq_len = 1;
  Tensors tensors = usual_tensors(problem);
  const Facts plain = facts_of(problem, tensors, fake_h200());
  tensors.q.batch_stride = 0;
  tensors.q.row_stride = -1;
  const Facts facts = facts_of(problem, tensors, fake_h200());
  EXPECT_EQ(facts.q_batch_stride, plain.q_batch_stride);
  EXPECT_EQ(facts.q_row_stride, plain.q_row_stride);
}

TEST(Facts, TakeTheLayoutFromATensorThatHasOne) {
  Problem problem = tuned_problem();
  problem.seq_len = 1;
  EXPECT_EQ(facts_of(problem, tensors_of(problem, fatune::Layout::bhsd), fake_h200()).layout_bhsd,
            1);
  problem.kv_heads = 1;
  EXPECT_EQ(facts_of(problem, tensors_of(problem, fatune::Layout::bhsd), fake_h200()).layout_bhsd,
            0);
}

}  // namespace
}  // namespace fatune_attention::detail

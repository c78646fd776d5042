// Problems whose V is columns of K.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/flop.hpp"
#include "model/input_kind.hpp"
#include "model/kv_pages.hpp"
#include "model/problem.hpp"
#include "unit/base/throws_error.hpp"

namespace fatune {
namespace {

Problem latent_problem() {
  Problem problem{2, 1, 16, 12, DType::bf16, true};
  problem.kv_heads = 1;
  problem.d_head_v = 8;
  problem.seq_len_kv = 100;
  problem.latent = true;
  return problem;
}

TEST(LatentProblems, AreNamed) {
  const Problem problem = latent_problem();
  EXPECT_EQ(describe(problem), "b2 s1 h16 d12 BF16 causal kv100 hkv1 dv8 latent");
  EXPECT_THAT(option_text(problem), testing::HasSubstr(" --latent"));
  EXPECT_NO_THROW(check_problem(problem));
}

TEST(LatentProblems, HaveNoMoreColumnsInVThanInK) {
  Problem problem = latent_problem();
  problem.d_head_v = 13;
  fixtures::expect_error([&] { check_problem(problem); }, ExitCode::usage,
                         {"K has 12 columns, of which V cannot be 13"});
}

TEST(LatentProblems, HaveVWithinK) {
  for (const std::int64_t page_size : {0, 16}) {
    Problem problem = latent_problem();
    problem.page_size = page_size;
    const TensorShape keys = tensor_shape(problem, TensorRole::k);
    const TensorShape values = tensor_shape(problem, TensorRole::v);
    EXPECT_EQ(values.columns, 8);
    EXPECT_EQ(values.rows, keys.rows);
    EXPECT_EQ(values.row_stride, keys.row_stride);
    EXPECT_EQ(values.head_stride, keys.head_stride);
    EXPECT_EQ(values.batch_stride, keys.batch_stride);
    EXPECT_EQ(stored_in(problem, TensorRole::v), TensorRole::k);
    EXPECT_EQ(tensor_elements(problem, TensorRole::v), 0);
    EXPECT_EQ(tensor_elements(problem, TensorRole::k), keys.elements());
  }
}

TEST(LatentProblems, ReadKeysOnce) {
  const Problem problem = latent_problem();
  EXPECT_EQ(needed_input_bytes(problem), 2 * (2 * 16 * 12 + 2 * 100 * 12));
  EXPECT_EQ(needed_output_bytes(problem), 2 * (2 * 16 * 8));
}

TEST(LatentProblems, HaveInputsWhoseValuesAreInTheirKeys) {
  HeadProblem head;
  head.seq_len = 3;
  head.seq_len_kv = 5;
  head.d_head = 6;
  head.d_head_v = 4;
  head.latent = true;
  EXPECT_TRUE(head.problem().latent);
  for (const InputKind kind : {InputKind::normal, InputKind::large_values, InputKind::onehot}) {
    const HeadInputs inputs = make_head_inputs(head, kind, 1);
    ASSERT_EQ(inputs.v.size(), 5U * 4U);
    for (std::size_t key = 0; key < 5; ++key) {
      for (std::size_t column = 0; column < 4; ++column) {
        EXPECT_EQ(inputs.v[key * 4 + column], inputs.k[key * 6 + column]);
      }
    }
  }
}

}  // namespace
}  // namespace fatune

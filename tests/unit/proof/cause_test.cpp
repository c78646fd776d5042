#include "proof/compare_steps.hpp"

#include <gmock/gmock.h>

#include "unit/proof/simulated_kernel.hpp"

namespace fatune {
namespace {

using fixtures::Fault;
using ::testing::HasSubstr;

std::string cause_of(Fault fault, InputKind kind, bool causal = false, bool has_steps = true) {
  const HeadProblem head{64, 64, DType::fp16, causal, {32, 16, StepOrder::last_to_first, 0.0}};
  const HeadInputs inputs = make_head_inputs(head, kind, 3);
  KernelValues kernel = fixtures::simulate_kernel(head, inputs, fault);
  kernel.has_steps = has_steps;
  const Comparison comparison = compare_steps(head, inputs, kernel);
  return likely_cause(head, inputs, kernel.values, comparison, *first_wrong(comparison.checks));
}

std::string cause_in_parts(Fault fault) {
  const BlockTiles tiles{8, 16, StepOrder::first_to_last, 0.0, 3};
  const HeadProblem head{8, 64, DType::fp16, false, tiles, 100};
  const HeadInputs inputs = make_head_inputs(head, InputKind::normal, 3);
  const KernelValues kernel = fixtures::simulate_kernel(head, inputs, fault);
  const Comparison comparison = compare_steps(head, inputs, kernel);
  return likely_cause(head, inputs, kernel.values, comparison, *first_wrong(comparison.checks));
}

TEST(LikelyCause, NamesTheCombinationOfParts) {
  EXPECT_THAT(cause_in_parts(Fault::left_out_part), HasSubstr("it is the row without part 1"));
  EXPECT_THAT(cause_in_parts(Fault::parts_added_alike), HasSubstr("if their M is ignored"));
  EXPECT_THAT(cause_in_parts(Fault::no_division),
              HasSubstr("the combination of the parts, the division by L, or the store of O"));
}

TEST(LikelyCause, NamesTheMaskAndTheFirstKey) {
  EXPECT_THAT(cause_of(Fault::mask_off_by_one, InputKind::normal, true),
              HasSubstr("the mask: it lets through the score of key 16 for query 15"));
}

TEST(LikelyCause, NamesTheRescaling) {
  EXPECT_THAT(cause_of(Fault::no_rescale, InputKind::range), HasSubstr("the rescaling of L"));
  EXPECT_THAT(cause_of(Fault::no_output_rescale, InputKind::range),
              HasSubstr("O has the value that it would have without rescaling"));
}

TEST(LikelyCause, NamesTheProductWithV) {
  EXPECT_THAT(cause_of(Fault::swapped_v, InputKind::normal), HasSubstr("the product P V"));
}

TEST(LikelyCause, NamesTheOtherParts) {
  EXPECT_THAT(cause_of(Fault::m_too_high, InputKind::normal), HasSubstr("the maximum of a row"));
  EXPECT_THAT(cause_of(Fault::no_exponent_base, InputKind::normal), HasSubstr("the exponential"));
  EXPECT_THAT(cause_of(Fault::left_out_step, InputKind::normal), HasSubstr("never written"));
  EXPECT_THAT(cause_of(Fault::no_division, InputKind::normal), HasSubstr("every step is right"));
  EXPECT_EQ(cause_of(Fault::no_division, InputKind::normal, false, false), "")
      << "the output alone does not tell the steps apart";
}

}  // namespace
}  // namespace fatune

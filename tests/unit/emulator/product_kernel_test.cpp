#include <gmock/gmock.h>

#include <cstring>

#include "hopper_kernels/product_kernel.hpp"
#include "unit/emulator/emulated_kernel.hpp"

namespace fatune::emulate {
namespace {

using testing::IsEmpty;

class Products : public testing::TestWithParam<hopper::ProductCase> {};

/// The layouts of TMA and the descriptors of wgmma must agree for every swizzle and major-ness.
TEST_P(Products, AreExactUnderEverySchedule) {
  const hopper::ProductCase& c = GetParam();
  Trial trial;
  trial.threads = hopper::kThreads;
  trial.input.resize(hopper::kInputBytes);
  trial.output_bytes = std::size_t{hopper::kThreads} * hopper::sums_of(c) * 4;
  const auto maps = hopper::product_maps(c, input_address());
  const auto encoded_a = encode_tensor_map(maps[0]);
  const auto encoded_b = encode_tensor_map(maps[1]);
  std::memcpy(trial.input.data() + hopper::kMapA, encoded_a.data(), encoded_a.size());
  std::memcpy(trial.input.data() + hopper::kMapB, encoded_b.data(), encoded_b.size());
  const std::vector<std::uint8_t> data = hopper::product_data(c);
  std::memcpy(trial.input.data() + hopper::kDataA, data.data(), data.size());
  const std::vector<std::uint32_t> expected = hopper::expected_sums(c);
  const std::string text = hopper::product_kernel(c);
  for (const Schedule& schedule :
       {Schedule{Timing::early, 1}, Schedule{Timing::late, 1}, Schedule{Timing::random, 1}}) {
    trial.schedule = schedule;
    const Emulated done = emulate(text, trial);
    EXPECT_THAT(done.findings(), IsEmpty()) << name_of(schedule);
    std::vector<std::uint32_t> sums(expected.size());
    std::memcpy(sums.data(), done.output.data(), done.output.size());
    EXPECT_EQ(sums, expected) << name_of(schedule);
  }
}

INSTANTIATE_TEST_SUITE_P(All, Products, testing::ValuesIn(hopper::product_cases()),
                         [](const auto& c) { return c.param.name(); });

}  // namespace
}  // namespace fatune::emulate

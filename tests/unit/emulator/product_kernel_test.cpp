#include <gmock/gmock.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "hopper_kernels/product_kernel.hpp"
#include "unit/emulator/emulated_kernel.hpp"

namespace fatune::emulate {
namespace {

using testing::IsEmpty;

/// The case's kernel with its operands, before or after changes of them.
Trial trial_of(const hopper::ProductCase& c, const std::vector<std::uint8_t>& data) {
  Trial trial;
  trial.threads = hopper::kThreads;
  trial.input.resize(hopper::kInputBytes);
  trial.output_bytes = std::size_t{hopper::kThreads} * hopper::sums_of(c) * 4;
  const auto maps = hopper::product_maps(c, input_address());
  const auto encoded_a = encode_tensor_map(maps[0]);
  const auto encoded_b = encode_tensor_map(maps[1]);
  std::memcpy(trial.input.data() + hopper::kMapA, encoded_a.data(), encoded_a.size());
  std::memcpy(trial.input.data() + hopper::kMapB, encoded_b.data(), encoded_b.size());
  std::memcpy(trial.input.data() + hopper::kDataA, data.data(), data.size());
  return trial;
}

/// Runs the kernel and returns its sums. There must be no findings.
std::vector<std::uint32_t> sums_with(const hopper::ProductCase& c, const Trial& trial) {
  const Emulated done = emulate(hopper::product_kernel(c), trial);
  EXPECT_THAT(done.findings(), IsEmpty()) << name_of(trial.schedule);
  std::vector<std::uint32_t> sums(done.output.size() / 4);
  std::memcpy(sums.data(), done.output.data(), done.output.size());
  return sums;
}

class Products : public testing::TestWithParam<hopper::ProductCase> {};

/// The layouts of TMA and the descriptors of wgmma must agree for every swizzle and major-ness.
TEST_P(Products, AreExactUnderEverySchedule) {
  const hopper::ProductCase& c = GetParam();
  Trial trial = trial_of(c, hopper::product_data(c));
  const std::vector<std::uint32_t> expected = hopper::expected_sums(c);
  for (const Schedule& schedule :
       {Schedule{Timing::early, 1}, Schedule{Timing::late, 1}, Schedule{Timing::random, 1}}) {
    trial.schedule = schedule;
    EXPECT_EQ(sums_with(c, trial), expected) << name_of(schedule);
  }
}

INSTANTIATE_TEST_SUITE_P(All, Products, testing::ValuesIn(hopper::product_cases()),
                         [](const auto& c) { return c.param.name(); });
INSTANTIATE_TEST_SUITE_P(Fp8, Products, testing::ValuesIn(hopper::fp8_product_cases()),
                         [](const auto& c) { return c.param.name(); });

// --- 8-bit floats: values at the ends of their range, in K-major rows of kRowBytes ---

constexpr hopper::ProductCase kFp8Shared{.columns = 16, .a = Factor::e4m3, .b = Factor::e5m2};
constexpr hopper::ProductCase kFp8Registers{
    .columns = 16, .a = Factor::e5m2, .b = Factor::e4m3, .a_in_registers = true};

/// The sum at a row and a column of D.
std::uint32_t sum_at(const hopper::ProductCase& c, const std::vector<std::uint32_t>& sums,
                     std::uint32_t row, std::uint32_t column) {
  const std::uint32_t thread = row / 16 * 32 + row % 8 * 4 + column % 8 / 2;
  return sums[thread * hopper::sums_of(c) + column / 8 * 4 + row % 16 / 8 * 2 + column % 2];
}

/// Puts `bits` at element k of row 21 of A, and expects only that row of D to be `expected`.
void expect_row_21(const hopper::ProductCase& c, std::uint32_t k, std::uint8_t bits,
                   std::uint32_t expected) {
  std::vector<std::uint8_t> data = hopper::product_data(c);
  data[21 * hopper::kRowBytes + k] = bits;
  const std::vector<std::uint32_t> sums = sums_with(c, trial_of(c, data));
  const std::vector<std::uint32_t> others = hopper::expected_sums(c);
  for (std::uint32_t row = 0; row < hopper::kRows; ++row) {
    for (std::uint32_t column = 0; column < c.columns; ++column) {
      EXPECT_EQ(sum_at(c, sums, row, column), row == 21 ? expected : sum_at(c, others, row, column))
          << row << ", " << column << " with " << int{bits} << " at " << k;
    }
  }
}

constexpr std::uint32_t kProductNan = 0x7fffffff;

TEST(Fp8Products, ANanIsSeenInItsRowAlone) {
  for (const std::uint32_t k : {0U, 3U, 18U, 127U}) {
    expect_row_21(kFp8Shared, k, 0x7f, kProductNan);
    expect_row_21(kFp8Shared, k, 0xff, kProductNan);
    expect_row_21(kFp8Registers, k, 0x7e, kProductNan);
  }
}

/// Every element of A and of B has the same bits.
std::uint32_t uniform_sum(const hopper::ProductCase& c, std::uint8_t a, std::uint8_t b) {
  std::vector<std::uint8_t> data = hopper::product_data(c);
  const auto end_of_a = data.begin() + (hopper::kDataB - hopper::kDataA);
  std::fill(data.begin(), end_of_a, a);
  std::fill(end_of_a, data.end(), b);
  const std::vector<std::uint32_t> sums = sums_with(c, trial_of(c, data));
  EXPECT_THAT(sums, testing::Each(sums.front()));
  return sums.front();
}

TEST(Fp8Products, ReachTheEndsOfTheirRange) {
  const auto bits = [](double value) {
    return std::bit_cast<std::uint32_t>(static_cast<float>(value));
  };
  EXPECT_EQ(uniform_sum(kFp8Shared, 0x7e, 0x7b), bits(128.0 * 448 * 57344));
  EXPECT_EQ(uniform_sum(kFp8Shared, 0x01, 0x81), bits(-128.0 * 0x1p-9 * 0x1p-16));
  EXPECT_EQ(uniform_sum(kFp8Registers, 0x7b, 0xfe), bits(-128.0 * 448 * 57344));
  EXPECT_EQ(uniform_sum(kFp8Registers, 0x7c, 0x38), 0x7f800000U);  // infinity x 1
  EXPECT_EQ(uniform_sum(kFp8Registers, 0x7c, 0x00), kProductNan);  // infinity x 0
}

}  // namespace
}  // namespace fatune::emulate

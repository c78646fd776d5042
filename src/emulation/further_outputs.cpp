#include "emulation/further_outputs.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace fatune {
namespace {

// 32 bits of poison: a NaN as fp32, and each half a NaN as fp16 and bf16.
constexpr std::array<std::uint8_t, 4> kPoisonBytes{0xa5, 0x7f, 0xa5, 0x7f};

bool is_untouched(std::span<const std::uint8_t> bytes) {
  std::size_t at = 0;
  return std::ranges::all_of(bytes, [&](std::uint8_t byte) {
    return byte == kPoisonBytes.at(at++ % kPoisonBytes.size());
  });
}

/// Returns the values of the compared part.
std::vector<float> compared_values(const EmulatedProblem& on, const FurtherOutput& output) {
  std::vector<float> values(output.bytes.size() / sizeof(float));
  std::memcpy(values.data(), output.bytes.data(), values.size() * sizeof(float));
  if (!on.only_head) {
    return values;
  }
  const auto first = values.begin() + *on.only_head * on.problem.seq_len;
  return {first, first + on.problem.seq_len};
}

}  // namespace

emulate::Allocation poisoned_output(const KernelBuffer& output) {
  emulate::Allocation allocation;
  allocation.name = output.name;
  allocation.bytes.resize(static_cast<std::size_t>(output.bytes));
  for (std::size_t i = 0; i < allocation.bytes.size(); ++i) {
    allocation.bytes[i] = kPoisonBytes.at(i % kPoisonBytes.size());
  }
  allocation.shape = output.shape;
  allocation.element_bytes = output.bytes / output.elements();
  return allocation;
}

FurtherOutput further_output(const KernelBuffer& output, const emulate::Allocation& left) {
  return {output.name, find_enum<RowValue>(output.output), left.element_bytes, left.bytes};
}

ErrorStats compare_further(const std::string& input, const EmulatedProblem& on,
                           const FurtherOutput& output, const RowReference* reference) {
  ErrorStats stats;
  if (output.what) {
    stats = compare_row_values(output.name, *output.what, compared_values(on, output),
                               reference->rows, reference->limit);
  } else if (is_untouched(output.bytes)) {
    stats.not_finite = output.elements();
  }
  stats.input = input;
  stats.output = output.name;
  return stats;
}

std::int64_t count_different(const FurtherOutput& a, const FurtherOutput& b) {
  std::int64_t different = 0;
  const auto step = static_cast<std::size_t>(a.element_bytes);
  for (std::size_t i = 0; i < a.bytes.size(); i += step) {
    different += std::memcmp(&a.bytes[i], &b.bytes[i], step) != 0 ? 1 : 0;
  }
  return different;
}

}  // namespace fatune

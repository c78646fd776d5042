#include "conformance/results.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include "conformance/bounds.hpp"
#include "conformance/kernel_text.hpp"
#include "emulator/values/floats.hpp"

namespace fatune::conformance {
namespace {

constexpr std::size_t kMostTexts = 4;

/// The numbers in a result: two for a packed result, none for integers.
std::vector<double> numbers_in(const Kind& kind, std::uint64_t bits) {
  const auto low = static_cast<std::uint16_t>(bits);
  const auto high = static_cast<std::uint16_t>(bits >> 16U);
  const bool packed = kind.storage == Storage::b32;
  const auto numbers = [&](auto convert) {
    std::vector<double> all{static_cast<double>(convert(low))};
    if (packed) {
      all.push_back(static_cast<double>(convert(high)));
    }
    return all;
  };
  switch (kind.domain) {
    case Domain::half:
      return numbers(emulate::from_half);
    case Domain::bfloat:
      return numbers(emulate::from_bfloat);
    case Domain::single:
      return {static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits)))};
    case Domain::real:
      return {std::bit_cast<double>(bits)};
    default:
      return {};
  }
}

std::string described(const Kind& kind, std::uint64_t bits) {
  const std::vector<double> numbers = numbers_in(kind, bits);
  return numbers.empty() ? fmt::format("{:#x}", bits)
                         : fmt::format("{:#x} ({})", bits, fmt::join(numbers, ", "));
}

std::string described(const std::vector<Kind>& kinds, const std::uint64_t* values) {
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    texts.push_back(described(kinds[i], values[i]));
  }
  return fmt::format("{}", fmt::join(texts, ", "));
}

double relative_error(double expected, double got) {
  return expected == got ? 0.0 : std::abs(got - expected) / std::abs(expected);
}

bool within(const Bound& bound, double expected, double got) {
  if (!std::isfinite(expected) || !std::isfinite(got)) {
    return (std::isnan(expected) && std::isnan(got)) || expected == got;
  }
  return std::abs(got - expected) <= bound.absolute + bound.relative * std::abs(expected);
}

bool agrees(const Case& one, const Kind& kind, std::uint64_t expected, std::uint64_t got) {
  const Bound* const bound = bound_of(one.text);
  const std::vector<double> wanted = numbers_in(kind, expected);
  const std::vector<double> had = numbers_in(kind, got);
  if (expected == got || bound == nullptr || wanted.empty()) {
    return expected == got;
  }
  return std::equal(wanted.begin(), wanted.end(), had.begin(),
                    [&](double w, double h) { return within(*bound, w, h); });
}

void note_error(const Kind& kind, std::uint64_t expected, std::uint64_t got, Comparison& result) {
  const std::vector<double> wanted = numbers_in(kind, expected);
  const std::vector<double> had = numbers_in(kind, got);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const double error = relative_error(wanted[i], had[i]);
    result.worst_relative =
        std::isfinite(error) ? std::max(result.worst_relative, error) : result.worst_relative;
  }
}

}  // namespace

std::vector<std::uint8_t> input_bytes(const std::vector<std::uint64_t>& operands) {
  std::vector<std::uint8_t> bytes(std::max<std::size_t>(1, operands.size() * kSlotBytes));
  std::memcpy(bytes.data(), operands.data(), operands.size() * kSlotBytes);
  return bytes;
}

std::vector<std::uint64_t> results_of(const Case& one, const std::vector<std::uint8_t>& output) {
  std::vector<std::uint64_t> results;
  for (std::size_t at = 0; at < output.size(); at += output_stride(one)) {
    for (std::size_t i = 0; i < one.results.size(); ++i) {
      std::uint64_t value = 0;
      std::memcpy(&value, output.data() + at + i * kSlotBytes, recorded_bytes(one.results[i]));
      results.push_back(value);
    }
  }
  return results;
}

Comparison compare(const Case& one, const std::vector<std::uint64_t>& operands,
                   const std::vector<std::uint64_t>& expected,
                   const std::vector<std::uint64_t>& got) {
  Comparison result;
  const std::size_t results = one.results.size();
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const Kind& kind = one.results[i % results];
    if (expected[i] == got.at(i)) {
      continue;
    }
    ++result.unequal;
    note_error(kind, expected[i], got[i], result);
    if (agrees(one, kind, expected[i], got[i])) {
      continue;
    }
    const std::size_t thread = i / results;
    if (result.wrong++ < kMostTexts) {
      result.texts.push_back(
          fmt::format("{}\n  of {}\n  is {}, result {} on a GPU {} (thread {})", one.text,
                      described(one.operands, operands.data() + thread * one.operands.size()),
                      described(kind, got[i]), i % results, described(kind, expected[i]), thread));
    }
  }
  return result;
}

}  // namespace fatune::conformance

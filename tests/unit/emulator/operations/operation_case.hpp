#pragma once

#include <bit>
#include <cstdint>
#include <string>

// One instruction on known operands.
namespace fatune::emulate {

/// `text` may name the operands a, b and c at any width: %w10 - %w12, %r10 - %r12, %h10 - %h12,
/// %f10 - %f12 or %d10 - %d12. It puts its result into register 3 of a class: %r3, %w3, %h3, %f3,
/// %d3 or %p3.
struct OperationCase {
  std::string text;
  std::uint64_t a = 0;
  std::uint64_t b = 0;
  std::uint64_t c = 0;
  std::uint64_t expected = 0;
};

/// Executes the operation in one thread. Returns the result's bits, zero-extended.
[[nodiscard]] std::uint64_t result_of(const OperationCase& operation);

/// Expects the result of the operation. A failure names the operation.
void expect_result(const OperationCase& operation);

constexpr std::uint64_t bits(float value) { return std::bit_cast<std::uint32_t>(value); }
constexpr std::uint64_t bits(double value) { return std::bit_cast<std::uint64_t>(value); }
constexpr std::uint64_t word(std::int32_t value) { return static_cast<std::uint32_t>(value); }
constexpr std::uint64_t wide(std::int64_t value) { return static_cast<std::uint64_t>(value); }
constexpr std::uint64_t half_word(std::int32_t value) { return word(value) & 0xffffU; }

}  // namespace fatune::emulate

#pragma once

#include <cstdint>
#include <vector>

#include "conformance/case.hpp"

namespace fatune::conformance {

/// The operands of `tuples` threads: operand i of thread t is element t * operands + i, in the low
/// bits. Half of them are edges of their types in all combinations, in a mixed order. The others
/// are random bits and random numbers near 1. They depend only on the case; fewer tuples are a
/// prefix of more.
[[nodiscard]] std::vector<std::uint64_t> operand_values(const Case& one, std::size_t tuples);

/// Hashes of values and of texts, to detect changes.
[[nodiscard]] std::uint64_t hash_of(const std::vector<std::uint64_t>& values);

}  // namespace fatune::conformance

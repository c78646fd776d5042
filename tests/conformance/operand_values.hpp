#pragma once

#include <cstdint>
#include <vector>

#include "conformance/case.hpp"

namespace fatune::conformance {

/// The operands of `tuples` threads: thread t's operand i is element t * operands + i, in the low
/// bits. Half of them are edges of their types in all combinations, in an order that mixes them;
/// the others are random bits and random numbers of about 1. The same for the same case wherever it
/// is made; fewer tuples are the first of more.
[[nodiscard]] std::vector<std::uint64_t> operand_values(const Case& one, std::size_t tuples);

/// Hash of values and of texts, to notice changes.
[[nodiscard]] std::uint64_t hash_of(const std::vector<std::uint64_t>& values);

}  // namespace fatune::conformance

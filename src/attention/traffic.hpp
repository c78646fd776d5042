#pragma once

#include <cstdint>

#include "attention/problem.hpp"

// The least bytes that attention moves through device memory.
namespace fatune {

/// The bytes of Q, K and V that must be read once. Keys that no query sees need not be read.
[[nodiscard]] std::int64_t needed_input_bytes(const Problem& problem);
/// needed_input_bytes(), and the bytes of O, which must be written once.
[[nodiscard]] double needed_bytes(const Problem& problem);

}  // namespace fatune

#pragma once

#include <optional>

#include "attention/problem.hpp"

namespace fatune {

/// The problem on which candidates are verified with adversarial inputs: the same sequence length,
/// head dimension, type, mask and number of heads, so that every tile and every iteration is the
/// problem's, but a single batch: machine code may depend on anything but that (planner.hpp).
[[nodiscard]] Problem probe_problem(const Problem& problem);

/// Long enough for several steps of the usual tiles of keys, and for a second block of queries.
inline constexpr std::int64_t kShortLength = 256;

/// A length that is ragged as `seq_len` is, for tiles of up to 256 rows that divide 256: itself up
/// to 256, else 128 to 383.
[[nodiscard]] std::int64_t short_length(std::int64_t seq_len);

/// The problem with batch 1 and short_length(): what is cheap to run, and often has the same
/// machine code.
[[nodiscard]] Problem small_problem(const Problem& problem);

/// small_problem() with a window that leaves queries a third of its keys, where the problem's own
/// masks some of its keys and none of so few. Nothing where it needs no such window. A family that
/// compiles the window in has other machine code for it.
[[nodiscard]] std::optional<Problem> narrow_problem(const Problem& problem);

}  // namespace fatune

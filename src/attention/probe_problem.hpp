#pragma once

#include <optional>

#include "attention/problem.hpp"

namespace fatune {

/// The problem on which candidates are verified with adversarial inputs. It has the same sequence
/// length, head dimension, type, mask and number of heads, so that every tile and every iteration
/// is the problem's, but a single batch. Machine code may depend on anything but the batch
/// (planner.hpp).
[[nodiscard]] Problem probe_problem(const Problem& problem);

/// Enough for several steps of the usual key tiles, and for a second query block.
inline constexpr std::int64_t kShortLength = 256;

/// A short length with the same remainder as `seq_len` for every tile height that divides 256:
/// `seq_len` itself up to 256, else 128 to 383.
[[nodiscard]] std::int64_t short_length(std::int64_t seq_len);

/// The problem with batch 1 and short_length(). It is cheap to run, and often has the same machine
/// code.
[[nodiscard]] Problem small_problem(const Problem& problem);

/// small_problem() with a window of a third of its keys. It exists only if the problem's own window
/// masks some of the problem's keys, but none of the small problem's; otherwise returns nothing. A
/// family that compiles the window in has different machine code for it.
[[nodiscard]] std::optional<Problem> narrow_problem(const Problem& problem);

}  // namespace fatune

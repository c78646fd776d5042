#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/problem.hpp"

// Key lengths that differ within a batch: Problem::seq_lens_kv names them, as text in one of these
// forms (docs/measurement.md has the formulas).
//
//   4096,17,0                     the length of each sequence
//   uniform:LOW-HIGH:SEED         every length in the range is as likely
//   zipf:LOW-HIGH:EXPONENT:SEED   the sequence of rank r has HIGH / r^EXPONENT keys, at least LOW

namespace fatune {

/// The tensor of a problem with lengths, as arguments of kernels name it: int32 [batch].
inline constexpr std::string_view kKeyLengthsTensor = "seq_lens_kv";

/// Returns the text in the one form that problems hold: without blanks, with the defaults of what
/// it leaves out (SEED 0, EXPONENT 1). Throws Error(usage) if it has none of the forms.
[[nodiscard]] std::string canonical_kv_lengths(std::string_view text);

// Precondition of the functions below: the text is canonical.

/// How many lengths a list has. Nothing: it is no list, and fits every batch.
[[nodiscard]] std::optional<std::int64_t> listed_sequences(std::string_view text);
/// The greatest length that the text allows: HIGH, or the greatest of the list.
[[nodiscard]] std::int64_t greatest_kv_length(std::string_view text);
/// The text, or for a long list its size and the beginning of its hash: "64 listed 1f2e3d4c".
[[nodiscard]] std::string short_kv_lengths(const std::string& text);

/// The number of keys of each sequence of the batch. Without lengths, all have seq_len_kv. Of a
/// batch that check_problem() refuses, as a file may have one, the result is anything.
[[nodiscard]] std::vector<std::int64_t> kv_lengths(const Problem& problem);
/// Their sum.
[[nodiscard]] std::int64_t total_keys(const Problem& problem);

/// Throws Error(usage) unless there is a length for each sequence, and room for the longest.
void check_kv_lengths(const Problem& problem);

/// Returns the problem as a caller plans it that knows no length, but that none exceeds seq_len_kv:
/// it has lengths, and each is seq_len_kv. Exported libraries plan launches so.
[[nodiscard]] Problem with_unknown_kv_lengths(Problem problem);

/// Returns the problem with these lengths, and a batch of as many sequences.
[[nodiscard]] Problem with_kv_lengths(Problem problem, const std::vector<std::int64_t>& lengths);

}  // namespace fatune

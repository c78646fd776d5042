#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/problem.hpp"

// Lengths that differ within a batch: Problem::seq_lens_kv names those of keys, and
// Problem::seq_lens those of queries, as text in one of these forms (docs/measurement.md has the
// formulas).
//
//   4096,17,0                     the length of each sequence
//   uniform:LOW-HIGH:SEED         every length in the range is as likely
//   zipf:LOW-HIGH:EXPONENT:SEED   the sequence of rank r has the length HIGH / r^EXPONENT, at least
//                                 LOW

namespace fatune {

/// The tensor of a problem with lengths of keys that is not packed, as arguments of kernels name
/// it: int32 [batch].
inline constexpr std::string_view kKeyLengthsTensor = "seq_lens_kv";
/// The tensors of a packed problem, each int32 [batch + 1]: the first row of each sequence in Q and
/// O, and in K and V, and behind them the number of all rows.
inline constexpr std::string_view kQueryStartsTensor = "cu_seqlens_q";
inline constexpr std::string_view kKeyStartsTensor = "cu_seqlens_kv";

/// Returns the text in the one form that problems hold: without blanks, with the defaults of what
/// it leaves out (SEED 0, EXPONENT 1). Throws Error(usage) if it has none of the forms.
[[nodiscard]] std::string canonical_lengths(std::string_view text);

// Precondition of the functions below: the text is canonical.

/// How many lengths a list has. Nothing: it is no list, and fits every batch.
[[nodiscard]] std::optional<std::int64_t> listed_sequences(std::string_view text);
/// The greatest length that the text allows: HIGH, or the greatest of the list.
[[nodiscard]] std::int64_t greatest_length(std::string_view text);
/// The text, or for a long list its size and the beginning of its hash: "64 listed 1f2e3d4c".
[[nodiscard]] std::string short_lengths(const std::string& text);

/// The number of queries, or of keys, of each sequence of the batch. Without lengths, all have
/// seq_len queries and seq_len_kv keys; without lengths of keys, a packed problem has as many keys
/// as queries. Of a batch that check_problem() refuses, as a file may have one, the result is
/// anything.
[[nodiscard]] std::vector<std::int64_t> query_lengths(const Problem& problem);
[[nodiscard]] std::vector<std::int64_t> kv_lengths(const Problem& problem);
/// Their sums.
[[nodiscard]] std::int64_t total_queries(const Problem& problem);
[[nodiscard]] std::int64_t total_keys(const Problem& problem);

/// A sequence, and where its rows are: the batch of tensor_shape(), and the first of its rows
/// there.
struct Sequence {
  std::int64_t batch = 0;
  std::int64_t first_query = 0;
  std::int64_t queries = 0;
  std::int64_t first_key = 0;
  std::int64_t keys = 0;
};

/// The sequences of the batch, in their order.
[[nodiscard]] std::vector<Sequence> sequences_of(const Problem& problem);
/// The sequence that has a row of Q and O. Precondition: the tensor has such a row.
[[nodiscard]] const Sequence& sequence_at(const std::vector<Sequence>& sequences,
                                          std::int64_t batch, std::int64_t row);
/// What kQueryStartsTensor or kKeyStartsTensor contains for such lengths: 0, and their sums.
[[nodiscard]] std::vector<std::int32_t> starts_of(const std::vector<std::int64_t>& lengths);

/// A row of a packed tensor, in the sequence that has it.
struct SequenceRow {
  std::int64_t sequence;
  std::int64_t row;  ///< counted from the sequence's first
};
/// Returns where a row is. starts: starts_of() lengths. Precondition: a sequence has the row.
[[nodiscard]] SequenceRow row_in_sequence(const std::vector<std::int32_t>& starts,
                                          std::int64_t row);

/// Throws Error(usage) unless there is a length for each sequence, and room for the longest. A
/// packed problem must have a query and a key, at most kMostSeqLen of each, and the layout bshd.
void check_lengths(const Problem& problem);

/// Returns the problem as a caller plans it that knows no length, but that none exceeds seq_len_kv:
/// it has lengths, and each is seq_len_kv. Exported libraries plan launches so.
[[nodiscard]] Problem with_unknown_kv_lengths(Problem problem);
/// Returns the problem packed, in layout bshd, as a caller plans it that knows how many rows there
/// are, but no length: each sequence has seq_len queries and seq_len_kv keys.
[[nodiscard]] Problem with_unknown_lengths(Problem problem);

/// Returns the problem with these numbers of keys, or of queries, and a batch of as many sequences.
/// Precondition: the greatest number of queries is seq_len.
[[nodiscard]] Problem with_query_lengths(Problem problem, const std::vector<std::int64_t>& lengths);
[[nodiscard]] Problem with_kv_lengths(Problem problem, const std::vector<std::int64_t>& lengths);

}  // namespace fatune

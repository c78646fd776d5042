#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "model/problem.hpp"

// K and V as pools of pages, as servers keep them: Problem::page_size. A pool is (pages, page_size,
// kv_heads, d) or, in layout bhsd, (pages, kv_heads, page_size, d). A table, int32 [batch, pages of
// a sequence], says which page has the keys [i * page_size, (i + 1) * page_size) of a sequence.
// Sequences may share pages. Entries behind a sequence's last page may be anything.

namespace fatune {

/// The table, as arguments of kernels name it.
inline constexpr std::string_view kPageTableTensor = "page_table";

[[nodiscard]] inline bool has_pages(const Problem& problem) { return problem.page_size > 0; }

/// What entries of the table behind a sequence's last page are here: no page of any pool.
inline constexpr std::int32_t kNoPage = 0x7fa57fa5;

// Precondition of the functions below: the problem has pages.

/// Entries of the table for each sequence: pages of seq_len_kv keys.
[[nodiscard]] std::int64_t pages_of_sequence(const Problem& problem);
/// Pages of the pools of K and of V: an eighth more than sequences of seq_len_kv keys fill, or
/// those of a packed problem, and one.
[[nodiscard]] std::int64_t pool_pages(const Problem& problem);
/// A table in which each page is used at most once, in an order that `seed` decides.
/// shape: [batch, pages_of_sequence()]
[[nodiscard]] std::vector<std::int32_t> page_table(const Problem& problem, std::uint64_t seed = 0);

/// Throws Error(usage) unless the page size is a power of two and the pages can be numbered. A
/// problem without pages passes.
void check_pages(const Problem& problem);

/// Returns the problem with contiguous K and V.
[[nodiscard]] Problem without_pages(Problem problem);

/// Where the rows of K or V are, in pages of page_table(problem) or contiguous.
class KeyRows {
 public:
  KeyRows(const Problem& problem, TensorRole role)
      : KeyRows(problem, tensor_shape(problem, role)) {}
  /// Of another tensor with rows for the same keys, such as scales.
  KeyRows(const Problem& problem, const TensorShape& shape);

  /// The index of the first element of a key's row. Where sequences are packed, keys are numbered
  /// as if they were contiguous: from the first sequence's first key on, in batch 0. Precondition:
  /// there is such a key.
  [[nodiscard]] std::int64_t offset(std::int64_t batch, std::int64_t key, std::int64_t head) const;

 private:
  TensorShape shape_;
  std::int64_t page_size_;
  std::int64_t pages_of_sequence_ = 0;
  std::vector<std::int32_t> table_;   ///< empty: contiguous
  std::vector<std::int32_t> starts_;  ///< starts_of() the packed sequences' keys in pages
};

}  // namespace fatune

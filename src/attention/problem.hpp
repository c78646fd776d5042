#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

namespace fatune {

/// Element type of Q, K, V and O. The codes are the documented scalar-type numbers.
enum class DType : int { fp16 = 5, bf16 = 15 };

[[nodiscard]] std::string_view dtype_name(DType dtype);  ///< "FP16", "BF16"
[[nodiscard]] DType parse_dtype(std::string_view text);  ///< any case; Error(usage)
[[nodiscard]] constexpr std::int64_t element_bytes(DType) { return 2; }

/// Attention forward on contiguous (batch, seq_len, heads, d_head) tensors.
struct Problem {
  std::int64_t batch = 0;
  std::int64_t seq_len = 0;
  std::int64_t heads = 0;
  std::int64_t d_head = 0;
  DType dtype = DType::fp16;
  bool causal = false;

  auto operator<=>(const Problem&) const = default;
};

/// Largest power of two, at most 16, that keeps batch * seq_len at most 65536 (at least 1).
[[nodiscard]] std::int64_t documented_batch(std::int64_t seq_len);

inline constexpr std::int64_t kDocumentedHeads = 16;

/// Elements of one of Q, K, V, O.
[[nodiscard]] std::int64_t tensor_elements(const Problem& problem);
[[nodiscard]] std::int64_t tensor_bytes(const Problem& problem);

/// Throws Error(usage) unless all extents are positive and within 32-bit grid limits.
void check_problem(const Problem& problem);

/// batch*heads*(4*s^2*d + 6*s^2): the documents' count of attention FLOP (causal is not halved).
[[nodiscard]] double attention_flop(const Problem& problem);
/// 4*s^2*d*batch*heads, half when causal: what published TFLOP/s figures use; ours are ranked by
/// it.
[[nodiscard]] double literature_flop(const Problem& problem);

/// "b16 s4096 h16 d128 FP16 causal": for people; stable, used in logs and file names.
[[nodiscard]] std::string describe(const Problem& problem);

}  // namespace fatune

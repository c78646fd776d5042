#pragma once

#include <array>
#include <cstdint>

#include "attention/problem.hpp"
#include "core/enum_names.hpp"

namespace fatune {

enum class TensorRole { q, k, v, o };

inline constexpr std::array kTensorRoles{TensorRole::q, TensorRole::k, TensorRole::v,
                                         TensorRole::o};

template <>
inline constexpr EnumNames<4> kEnumNames<TensorRole>{"tensor", {"Q", "K", "V", "O"}};

/// The extents of a tensor, and where its elements lie. Strides are in elements; columns are
/// adjacent.
struct TensorShape {
  std::int64_t batch = 0;
  std::int64_t rows = 0;  ///< positions of the sequence
  std::int64_t heads = 0;
  std::int64_t columns = 0;
  std::int64_t batch_stride = 0;
  std::int64_t row_stride = 0;
  std::int64_t head_stride = 0;

  [[nodiscard]] std::int64_t elements() const { return batch * rows * heads * columns; }
  /// The index of the first element of a row.
  [[nodiscard]] std::int64_t row_offset(std::int64_t in_batch, std::int64_t row,
                                        std::int64_t head) const {
    return in_batch * batch_stride + row * row_stride + head * head_stride;
  }
};

/// The shape of the contiguous tensor, in the problem's layout.
[[nodiscard]] TensorShape tensor_shape(const Problem& problem, TensorRole role);

[[nodiscard]] std::int64_t tensor_elements(const Problem& problem, TensorRole role);
[[nodiscard]] std::int64_t tensor_bytes(const Problem& problem, TensorRole role);

}  // namespace fatune

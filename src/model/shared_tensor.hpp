#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace fatune {

/// A tensor in a block's dynamic shared memory: `stages` tiles of rows x columns elements.
///
/// A tile is cut into panels of `panel_columns` columns, one after another. The rows of a panel are
/// `row_bytes` apart. A swizzle permutes the 16-byte chunks of each line of `swizzle_bytes` of a
/// row: chunk c of row r is at c ^ (r / swizzle_rows % chunks of a line). Tensor maps and wgmma
/// descriptors of 32, 64 and 128 bytes do this to rows as long as a line, with swizzle_rows 4, 2
/// and 1 (PTX ISA 9.0, "Tensors", "Swizzling Modes").
struct SharedTensor {
  std::string name;
  std::int64_t offset_bytes = 0;  ///< where stage 0 begins in dynamic shared memory
  std::int64_t stages = 1;
  std::int64_t stage_bytes = 0;  ///< the distance from one stage to the next
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t element_bytes = 2;
  std::int64_t panel_columns = 0;  ///< divides columns
  std::int64_t row_bytes = 0;      ///< at least panel_columns * element_bytes
  std::int64_t swizzle_bytes = 0;  ///< 0 (none), 32, 64 or 128; divides row_bytes
  std::int64_t swizzle_rows = 1;
};

/// The place of an element in a SharedTensor.
struct TensorPlace {
  std::int64_t stage = 0;
  std::int64_t row = 0;
  std::int64_t column = 0;

  auto operator<=>(const TensorPlace&) const = default;
};

/// The offset of an element, in bytes from the start of dynamic shared memory.
[[nodiscard]] std::int64_t offset_of(const SharedTensor& tensor, const TensorPlace& place);
/// The element that a byte belongs to; nothing if the byte is padding or outside the tensor.
[[nodiscard]] std::optional<TensorPlace> place_at(const SharedTensor& tensor, std::int64_t offset);

/// "sK stage 1 [row 17, col 64]", or "sQ or sO [row 0, col 8]" for tensors that share the memory.
/// The stage is left out if a tensor has only one. Empty if no tensor has the byte.
[[nodiscard]] std::string name_byte(std::span<const SharedTensor> tensors, std::int64_t offset);

}  // namespace fatune

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>

// Tensor maps of TMA: PTX ISA 9.0, section 5.5, and cuTensorMapEncodeTiled of the CUDA driver.
namespace fatune::emulate {

/// How 16-byte chunks of shared memory are permuted: XORed with higher bits of their address.
enum class Swizzle : std::uint8_t { none, bytes_32, bytes_64, bytes_128 };

/// The address at which a swizzle places the chunk for `address`.
[[nodiscard]] constexpr std::uint32_t swizzled(std::uint32_t address, Swizzle swizzle) {
  constexpr std::array<std::uint32_t, 4> kMasks{0, 1, 3, 7};
  return address ^ (address >> 7U & kMasks[static_cast<std::size_t>(swizzle)]) << 4U;
}

inline constexpr std::size_t kMostDimensions = 5;

/// A tiled tensor map: the parameters of cuTensorMapEncodeTiled. Dimension 0 is the innermost one.
/// Interleaving and types that convert elements are missing: elements are copied unchanged. Any
/// bytes are a TensorMap, though not one that may be encoded.
struct TensorMap {
  std::uint64_t address = 0;
  std::array<std::uint64_t, kMostDimensions> sizes{};    ///< elements
  std::array<std::uint64_t, kMostDimensions> strides{};  ///< in bytes; the first is element_bytes
  std::array<std::uint32_t, kMostDimensions> box{};      ///< elements
  /// The step of each dimension, 1 to 8: one in this many elements of the box is copied. Does not
  /// apply to dimension 0.
  std::array<std::uint8_t, kMostDimensions> steps{1, 1, 1, 1, 1};
  std::uint8_t element_bytes = 2;
  std::uint8_t rank = 1;
  Swizzle swizzle = Swizzle::none;
  std::uint8_t fills_nan = 0;  ///< not 0: floating-point elements out of bounds are NaN; else 0

  /// The number of elements of a dimension of the box that are copied.
  [[nodiscard]] std::uint32_t copied(std::size_t dimension) const {
    const std::uint32_t step = dimension == 0 ? 1U : steps[dimension];
    return (box[dimension] + step - 1) / step;
  }
  [[nodiscard]] std::uint64_t box_bytes() const;
  /// The value of byte `index` of a piece that is out of bounds. A NaN has all bits set except its
  /// sign. The NaN that the hardware writes is not documented.
  [[nodiscard]] std::uint8_t fill_byte(std::uint32_t index) const {
    const bool top = index % element_bytes == element_bytes - 1U;
    return static_cast<std::uint8_t>(fills_nan == 0 ? 0x00 : top ? 0x7f : 0xff);
  }
};

inline constexpr std::size_t kTensorMapBytes = 128;

/// The 128 bytes that a kernel gets. NVIDIA's encoding is not documented, so this is the emulator's
/// own. Throws std::invalid_argument for a map that cuTensorMapEncodeTiled refuses.
[[nodiscard]] std::array<std::uint8_t, kTensorMapBytes> encode_tensor_map(const TensorMap& map);
/// Returns an empty optional if the bytes are not such a map.
[[nodiscard]] std::optional<TensorMap> decode_tensor_map(std::span<const std::uint8_t> bytes);

using Coordinates = std::array<std::int32_t, kMostDimensions>;

/// A piece of a box. Its bytes are consecutive in global and in shared memory.
struct BoxPiece {
  std::optional<std::uint64_t> global;  ///< address; empty: out of the tensor's bounds
  std::uint32_t shared = 0;             ///< address
  std::uint32_t bytes = 0;
};

/// Calls `work` for the pieces of the box whose first element is at `corner` of the tensor, and
/// whose copy begins at `shared`. Precondition: the box has less than 4 GiB.
void for_each_piece(const TensorMap& map, const Coordinates& corner, std::uint32_t shared,
                    const std::function<void(const BoxPiece&)>& work);

}  // namespace fatune::emulate

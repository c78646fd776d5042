#include "emulator/memory/tensor_map.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace fatune::emulate {
namespace {

constexpr std::uint64_t kMagic = 0x50414d5f45554e54;  // arbitrary, unlikely to occur by chance
constexpr std::uint32_t kSwizzleChunkBytes = 16;

struct Encoded {
  std::uint64_t magic = kMagic;
  TensorMap map;
};
static_assert(sizeof(Encoded) <= kTensorMapBytes);

void require(bool holds, const char* what) {
  if (!holds) {
    throw std::invalid_argument(what);
  }
}

void check_dimension(const TensorMap& map, std::size_t i) {
  require(map.sizes[i] >= 1 && map.sizes[i] <= std::uint64_t{1} << 32U, "sizes must be 1 to 2^32");
  require(map.box[i] >= 1 && map.box[i] <= 256,
          "the box must have 1 to 256 elements in a dimension");
  require(map.steps[i] >= 1 && map.steps[i] <= 8, "element strides must be 1 to 8");
  require(i == 0 || (map.strides[i] % kSwizzleChunkBytes == 0 && map.strides[i] < std::uint64_t{1}
                                                                                      << 40U),
          "strides must be multiples of 16 bytes below 2^40");
}

void check(const TensorMap& map) {
  const std::uint32_t bytes = map.element_bytes;
  require(bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8,
          "elements must have 1, 2, 4 or 8 bytes");
  require(bytes > 1 || map.fills_nan == 0, "filling with NaN needs floating-point elements");
  require(map.rank >= 1 && map.rank <= kMostDimensions, "there must be 1 to 5 dimensions");
  require(map.address % kSwizzleChunkBytes == 0,
          "the tensor's address must be a multiple of 16 bytes");
  for (std::size_t i = 0; i < map.rank; ++i) {
    check_dimension(map, i);
  }
  const std::uint32_t row_bytes = map.box[0] * bytes;
  require(row_bytes % kSwizzleChunkBytes == 0, "a box's row must be a multiple of 16 bytes");
  constexpr std::array<std::uint32_t, 4> kMostRowBytes{256 * 8, 32, 64, 128};
  require(row_bytes <= kMostRowBytes[static_cast<std::size_t>(map.swizzle)],
          "a box's row must not be longer than the swizzle");
}

/// Bytes [first, end) of a box's row that lie in the tensor.
struct InBounds {
  std::int64_t first = 0;
  std::int64_t end = 0;
};

InBounds row_in_bounds(const TensorMap& map, std::int32_t corner) {
  const std::int64_t row = map.box[0];
  const std::int64_t size = static_cast<std::int64_t>(map.sizes[0]);
  const std::int64_t first = std::clamp<std::int64_t>(-std::int64_t{corner}, 0, row);
  const std::int64_t end = std::clamp<std::int64_t>(size - corner, first, row);
  return {first * map.element_bytes, end * map.element_bytes};
}

/// Calls `work` for the pieces of one row of a box. Swizzled rows are cut into chunks. `outer`: the
/// address of the row's element 0; empty: the row is out of bounds.
template <typename Work>
void for_each_piece_of_row(const TensorMap& map, std::int32_t corner,
                           std::optional<std::uint64_t> outer, std::uint32_t shared,
                           const Work& work) {
  const auto bytes = static_cast<std::int64_t>(map.box[0]) * map.element_bytes;
  const InBounds inside = outer ? row_in_bounds(map, corner) : InBounds{bytes, bytes};
  const auto piece = [&](std::int64_t begin, std::int64_t end, bool is_inside) {
    if (begin == end) {
      return;
    }
    BoxPiece one;
    if (is_inside) {
      one.global =
          *outer + static_cast<std::uint64_t>(std::int64_t{corner} * map.element_bytes + begin);
    }
    one.shared = swizzled(shared + static_cast<std::uint32_t>(begin), map.swizzle);
    one.bytes = static_cast<std::uint32_t>(end - begin);
    work(one);
  };
  const std::int64_t step = map.swizzle == Swizzle::none ? bytes : kSwizzleChunkBytes;
  for (std::int64_t at = 0; at < bytes; at += step) {
    const std::int64_t end = at + step;
    const std::int64_t first = std::clamp(inside.first, at, end);
    const std::int64_t last = std::clamp(inside.end, first, end);
    piece(at, first, false);
    piece(first, last, true);
    piece(last, end, false);
  }
}

/// The address of the row with these offsets into the box, from dimension 1 on. Empty if the row is
/// out of bounds.
std::optional<std::uint64_t> row_address(const TensorMap& map, const Coordinates& corner,
                                         const std::array<std::uint32_t, kMostDimensions>& at) {
  std::uint64_t address = map.address;
  for (std::size_t i = 1; i < map.rank; ++i) {
    const std::int64_t index = std::int64_t{corner[i]} + std::int64_t{at[i]} * map.steps[i];
    if (index < 0 || index >= static_cast<std::int64_t>(map.sizes[i])) {
      return std::nullopt;
    }
    address += static_cast<std::uint64_t>(index) * map.strides[i];
  }
  return address;
}

}  // namespace

std::uint64_t TensorMap::box_bytes() const {
  std::uint64_t bytes = element_bytes;
  for (std::size_t i = 0; i < rank; ++i) {
    bytes *= copied(i);
  }
  return bytes;
}

std::array<std::uint8_t, kTensorMapBytes> encode_tensor_map(const TensorMap& map) {
  check(map);
  const Encoded encoded{.map = map};
  std::array<std::uint8_t, kTensorMapBytes> bytes{};
  std::memcpy(bytes.data(), &encoded, sizeof(encoded));
  return bytes;
}

std::optional<TensorMap> decode_tensor_map(std::span<const std::uint8_t> bytes) {
  Encoded encoded;
  if (bytes.size() < kTensorMapBytes) {
    return std::nullopt;
  }
  std::memcpy(&encoded, bytes.data(), sizeof(encoded));
  if (encoded.magic != kMagic || encoded.map.swizzle > Swizzle::bytes_128) {
    return std::nullopt;
  }
  try {
    check(encoded.map);
  } catch (const std::invalid_argument&) {
    return std::nullopt;
  }
  return encoded.map;
}

void for_each_piece(const TensorMap& map, const Coordinates& corner, std::uint32_t shared,
                    const std::function<void(const BoxPiece&)>& work) {
  const std::uint32_t row_bytes = map.box[0] * map.element_bytes;
  std::array<std::uint32_t, kMostDimensions> at{};
  const auto rows = static_cast<std::uint32_t>(map.box_bytes() / row_bytes);
  for (std::uint32_t row = 0; row < rows; ++row) {
    for_each_piece_of_row(map, corner[0], row_address(map, corner, at), shared + row * row_bytes,
                          work);
    for (std::size_t i = 1; i < map.rank && ++at[i] == map.copied(i); ++i) {
      at[i] = 0;
    }
  }
}

}  // namespace fatune::emulate

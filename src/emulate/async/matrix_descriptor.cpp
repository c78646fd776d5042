#include "emulate/async/matrix_descriptor.hpp"

#include <array>

namespace fatune::emulate {
namespace {

constexpr std::uint32_t kDescriptorUnitBytes = 16;
constexpr std::uint32_t kCoreRows = 8;  // rows of a core matrix

constexpr std::uint32_t field(std::uint64_t bits, std::uint32_t first, std::uint32_t count) {
  return static_cast<std::uint32_t>(bits >> first & ((std::uint64_t{1} << count) - 1));
}

}  // namespace

MatrixDescriptor MatrixDescriptor::of(std::uint64_t bits) {
  constexpr std::array kSwizzles{Swizzle::none, Swizzle::bytes_128, Swizzle::bytes_64,
                                 Swizzle::bytes_32};
  MatrixDescriptor descriptor;
  descriptor.start = field(bits, 0, 14) * kDescriptorUnitBytes;
  descriptor.leading_bytes = field(bits, 16, 14) * kDescriptorUnitBytes;
  descriptor.stride_bytes = field(bits, 32, 14) * kDescriptorUnitBytes;
  descriptor.base_offset = field(bits, 49, 3);
  descriptor.swizzle = kSwizzles[field(bits, 62, 2)];
  return descriptor;
}

std::uint32_t MatrixDescriptor::row_bytes() const {
  constexpr std::array<std::uint32_t, 4> kRowBytes{kDescriptorUnitBytes, 32, 64, 128};
  return kRowBytes[static_cast<std::size_t>(swizzle)];
}

std::uint32_t MatrixDescriptor::repeat_bytes() const {
  return swizzle == Swizzle::none ? kDescriptorUnitBytes : kCoreRows * row_bytes();
}

bool MatrixDescriptor::is_aligned() const {
  // The start may be anywhere within a row, but it must be in the first of eight rows.
  return base_offset == 0 && start % repeat_bytes() < row_bytes();
}

std::uint32_t MatrixDescriptor::k_major_chunk(std::uint32_t row, std::uint32_t chunk) const {
  const std::uint32_t group = start + row / kCoreRows * stride_bytes;
  if (swizzle == Swizzle::none) {
    return group + row % kCoreRows * kDescriptorUnitBytes + chunk * leading_bytes;
  }
  return swizzled(group + row % kCoreRows * row_bytes() + chunk * kDescriptorUnitBytes, swizzle);
}

std::uint32_t MatrixDescriptor::mn_major_chunk(std::uint32_t chunk, std::uint32_t k) const {
  if (swizzle == Swizzle::none) {
    return start + chunk * stride_bytes + k / kCoreRows * leading_bytes +
           k % kCoreRows * kDescriptorUnitBytes;
  }
  const std::uint32_t chunks = row_bytes() / kDescriptorUnitBytes;
  return swizzled(start + chunk / chunks * leading_bytes + chunk % chunks * kDescriptorUnitBytes +
                      k / kCoreRows * stride_bytes + k % kCoreRows * row_bytes(),
                  swizzle);
}

}  // namespace fatune::emulate

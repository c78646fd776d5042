#include "emit/npy.hpp"

#include <bit>
#include <cstring>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace fatune {
namespace {

static_assert(std::endian::native == std::endian::little);

// Magic, version, and a dictionary padded so that the data begins at a multiple of 64 bytes.
std::string header(const char* type, const std::vector<std::int64_t>& extents) {
  constexpr std::size_t kPrefixBytes = 10;
  constexpr std::size_t kAlignment = 64;
  std::string text = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({},), }}",
                                 type, fmt::join(extents, ", "));
  const std::size_t used = (kPrefixBytes + text.size() + 1) % kAlignment;
  text += std::string((kAlignment - used) % kAlignment, ' ') + '\n';
  std::string bytes("\x93NUMPY\x01\x00", 8);
  bytes += static_cast<char>(text.size() & 0xff);
  bytes += static_cast<char>(text.size() >> 8);
  return bytes + text;
}

template <typename T>
std::string npy(const char* type, const std::vector<std::int64_t>& extents,
                std::span<const double> values) {
  std::string bytes = header(type, extents);
  const std::size_t first = bytes.size();
  bytes.resize(first + values.size() * sizeof(T));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto value = static_cast<T>(values[i]);
    std::memcpy(bytes.data() + first + i * sizeof(T), &value, sizeof(T));
  }
  return bytes;
}

}  // namespace

std::string npy_float64(const std::vector<std::int64_t>& extents, std::span<const double> values) {
  return npy<double>("<f8", extents, values);
}

std::string npy_float32(const std::vector<std::int64_t>& extents, std::span<const double> values) {
  return npy<float>("<f4", extents, values);
}

}  // namespace fatune

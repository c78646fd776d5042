#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace fatune {

// The names of tensor maps' properties. A name's index is its value in the CUDA driver's enum
// (cuda.h, CUtensorMapDataType and its neighbours).

inline constexpr std::array<std::string_view, 13> kTensorMapElementTypes{
    "uint8",   "uint16",  "uint32",   "int32",       "uint64",   "int64",       "float16",
    "float32", "float64", "bfloat16", "float32_ftz", "tfloat32", "tfloat32_ftz"};
inline constexpr std::array<std::int64_t, 13> kTensorMapElementBytes{1, 2, 4, 4, 8, 8, 2,
                                                                     4, 8, 2, 4, 4, 4};
inline constexpr std::array<std::string_view, 7> kTensorMapSwizzles{
    "none", "32b", "64b", "128b", "128b_atom_32b", "128b_atom_32b_flip_8b", "128b_atom_64b"};
inline constexpr std::array<std::string_view, 3> kTensorMapInterleaves{"none", "16b", "32b"};
inline constexpr std::array<std::string_view, 4> kTensorMapL2Promotions{"none", "l2_64b", "l2_128b",
                                                                        "l2_256b"};
inline constexpr std::array<std::string_view, 2> kTensorMapOobFills{"none", "nan_request_zero_fma"};

/// Returns the index of the name, or the number of names if it is not among them.
[[nodiscard]] constexpr std::size_t index_of_name(std::span<const std::string_view> names,
                                                  std::string_view name) {
  std::size_t index = 0;
  while (index < names.size() && names[index] != name) {
    ++index;
  }
  return index;
}

}  // namespace fatune

#pragma once

#include <cstddef>
#include <cstdlib>

namespace fatune {

/// Whether tests with many cases run all of them: FATUNE_TEST_EXHAUSTIVE is set, as it is every
/// night.
inline bool is_exhaustive() { return std::getenv("FATUNE_TEST_EXHAUSTIVE") != nullptr; }

/// Whether a test takes the case of this index: one case in `parts`, or every case if exhaustive.
inline bool is_taken(std::size_t index, std::size_t part, std::size_t parts) {
  return is_exhaustive() || index % parts == part % parts;
}

/// The elements whose indices are taken.
template <typename Container>
Container part_of(Container all, std::size_t part, std::size_t parts) {
  std::size_t index = 0;
  std::erase_if(all, [&](const auto&) { return !is_taken(index++, part, parts); });
  return all;
}

}  // namespace fatune

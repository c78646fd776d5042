#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace fatune {

struct DiffLine {
  char sign = ' ';        ///< '-' only in the first, '+' only in the second, ' ' in both
  std::size_t index = 0;  ///< the line's place: in the second for '+', else in the first

  bool operator==(const DiffLine&) const = default;
};

/// Aligns two sequences with as many common lines as possible (a longest common subsequence); with
/// nearly as many where more than about 2,500 lines differ. Where both differ, the lines of `a`
/// come first. Throws Error(bad_file) if the product of the lengths is greater than 2^32.
/// Source: S. Wu, U. Manber, G. Myers, W. Miller, An O(NP) sequence comparison algorithm, IPL 35
/// (1990), as the library dtl has it.
[[nodiscard]] std::vector<DiffLine> diff_lines(const std::vector<std::string>& a,
                                               const std::vector<std::string>& b);

}  // namespace fatune

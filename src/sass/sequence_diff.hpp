#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace fatune {

struct DiffLine {
  char sign = ' ';        ///< '-' only in the first, '+' only in the second, ' ' in both
  std::size_t index = 0;  ///< of the line: in the second for '+', else in the first

  bool operator==(const DiffLine&) const = default;
};

/// Aligns two sequences with as many common lines as possible (a longest common subsequence). Where
/// both differ, the lines of `a` come first. Memory grows with the sum of the lengths, time with
/// their product. Throws Error(bad_file) if the product is too great.
/// Source: D. S. Hirschberg, A linear space algorithm for computing maximal common subsequences,
/// CACM 18 (1975).
[[nodiscard]] std::vector<DiffLine> diff_lines(const std::vector<std::string>& a,
                                               const std::vector<std::string>& b);

}  // namespace fatune

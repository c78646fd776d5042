#include "cli/suggestion.hpp"

#include <algorithm>
#include <numeric>

namespace fatune {
namespace {

/// Levenshtein distance: insertions, deletions and replacements that turn one into the other.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

}  // namespace

std::string closest_word(std::string_view typed, const std::vector<std::string>& words) {
  constexpr std::size_t kLongestTyped = 32;
  constexpr std::size_t kFarthest = 2;
  if (typed.empty() || typed.size() > kLongestTyped) {
    return {};
  }
  for (const std::string& word : words) {
    if (word.starts_with(typed)) {
      return word;
    }
  }
  const auto nearest = std::ranges::min_element(words, [&](const auto& a, const auto& b) {
    return edit_distance(typed, a) < edit_distance(typed, b);
  });
  const bool close = nearest != words.end() && edit_distance(typed, *nearest) <= kFarthest;
  return close ? *nearest : std::string();
}

}  // namespace fatune

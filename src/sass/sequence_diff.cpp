#include "sass/sequence_diff.hpp"

#include <algorithm>
#include <span>
#include <unordered_map>

#include <fmt/format.h>

#include "core/error.hpp"

namespace fatune {
namespace {

using Ids = std::span<const int>;

constexpr std::size_t kMostSteps = std::size_t{4} << 30;

/// Lengths of the longest common subsequences of `a` and each prefix of `b` (`backwards`: each
/// suffix).
std::vector<int> lengths(Ids a, Ids b, bool backwards) {
  std::vector<int> before(b.size() + 1, 0);
  std::vector<int> now(b.size() + 1, 0);
  for (std::size_t i = 0; i < a.size(); ++i) {
    const int x = backwards ? a[a.size() - 1 - i] : a[i];
    for (std::size_t j = 0; j < b.size(); ++j) {
      const int y = backwards ? b[b.size() - 1 - j] : b[j];
      now[j + 1] = x == y ? before[j] + 1 : std::max(now[j], before[j + 1]);
    }
    before.swap(now);
  }
  return before;
}

class Aligner {
 public:
  /// Marks the lines that the sequences have in common.
  Aligner(Ids a, Ids b) : in_a_(a.size(), false), in_b_(b.size(), false) { align(a, b, 0, 0); }

  [[nodiscard]] const std::vector<bool>& in_a() const { return in_a_; }
  [[nodiscard]] const std::vector<bool>& in_b() const { return in_b_; }

 private:
  void match(std::size_t a, std::size_t b) {
    in_a_[a] = true;
    in_b_[b] = true;
  }

  void align(Ids a, Ids b, std::size_t from_a, std::size_t from_b) {
    while (!a.empty() && !b.empty() && a.front() == b.front()) {
      match(from_a++, from_b++);
      a = a.subspan(1);
      b = b.subspan(1);
    }
    while (!a.empty() && !b.empty() && a.back() == b.back()) {
      match(from_a + a.size() - 1, from_b + b.size() - 1);
      a = a.first(a.size() - 1);
      b = b.first(b.size() - 1);
    }
    if (a.size() <= 1 || b.empty()) {
      match_single(a, b, from_a, from_b);
      return;
    }
    const std::size_t half = a.size() / 2;
    const std::size_t cut = best_cut(a, b, half);
    align(a.first(half), b.first(cut), from_a, from_b);
    align(a.subspan(half), b.subspan(cut), from_a + half, from_b + cut);
  }

  void match_single(Ids a, Ids b, std::size_t from_a, std::size_t from_b) {
    const auto found = a.empty() ? b.end() : std::ranges::find(b, a.front());
    if (found != b.end()) {
      match(from_a, from_b + static_cast<std::size_t>(std::distance(b.begin(), found)));
    }
  }

  /// The place to cut `b` such that its parts have the most in common with the halves of `a`.
  static std::size_t best_cut(Ids a, Ids b, std::size_t half) {
    const std::vector<int> left = lengths(a.first(half), b, false);
    const std::vector<int> right = lengths(a.subspan(half), b, true);
    std::size_t best = 0;
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (left[j] + right[b.size() - j] > left[best] + right[b.size() - best]) {
        best = j;
      }
    }
    return best;
  }

  std::vector<bool> in_a_;
  std::vector<bool> in_b_;
};

using Dictionary = std::unordered_map<std::string, int>;

std::vector<int> ids_of(const std::vector<std::string>& lines, Dictionary& dictionary) {
  std::vector<int> ids;
  for (const std::string& line : lines) {
    ids.push_back(dictionary.emplace(line, static_cast<int>(dictionary.size())).first->second);
  }
  return ids;
}

}  // namespace

std::vector<DiffLine> diff_lines(const std::vector<std::string>& a,
                                 const std::vector<std::string>& b) {
  if (!a.empty() && b.size() > kMostSteps / a.size()) {
    throw Error(ExitCode::bad_file,
                fmt::format("{} and {} lines are too many to compare", a.size(), b.size()));
  }
  Dictionary dictionary;
  const std::vector<int> ids_a = ids_of(a, dictionary);
  const std::vector<int> ids_b = ids_of(b, dictionary);
  const Aligner aligner(ids_a, ids_b);
  std::vector<DiffLine> lines;
  for (std::size_t i = 0, j = 0; i < a.size() || j < b.size();) {
    if (i < a.size() && !aligner.in_a()[i]) {
      lines.push_back({'-', i++});
    } else if (j < b.size() && !aligner.in_b()[j]) {
      lines.push_back({'+', j++});
    } else {
      lines.push_back({' ', i++});
      ++j;
    }
  }
  return lines;
}

}  // namespace fatune

#include "attention/row_pattern.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>

namespace fatune {
namespace {

constexpr std::int64_t kLeastPeriod = 8;
constexpr std::int64_t kGreatestPeriod = 256;
constexpr std::size_t kRangesInText = 8;

std::vector<RowFinding> findings_of(const RowMismatches& rows) {
  std::vector<RowFinding> findings;
  const std::size_t count =
      std::min({rows.row.size(), rows.mismatched.size(), rows.beyond_limit.size()});
  for (std::size_t i = 0; i < count && rows.rows_per_head > 0; ++i) {
    if (rows.row[i] >= 0) {
      findings.push_back({static_cast<std::int64_t>(i) / rows.rows_per_head, rows.row[i],
                          rows.mismatched[i], rows.beyond_limit[i]});
    }
  }
  return findings;
}

void add(PositionCounts& total, std::int64_t compared, std::int64_t wrong) {
  total.rows_compared += compared;
  total.rows_beyond_limit += wrong;
}

/// Runs of wrong neighbours in an ascending list of positions.
std::vector<RowRange> wrong_ranges(const std::vector<PositionCounts>& positions) {
  std::vector<RowRange> ranges;
  bool open = false;
  for (const PositionCounts& at : positions) {
    const bool wrong = at.rows_beyond_limit > 0;
    if (wrong && open) {
      ranges.back().last = at.row;
    } else if (wrong) {
      ranges.push_back({at.row, at.row});
    }
    open = wrong;
  }
  return ranges;
}

std::vector<PositionCounts> fold(const std::vector<PositionCounts>& positions,
                                 std::int64_t period) {
  std::map<std::int64_t, PositionCounts> folded;
  for (const PositionCounts& at : positions) {
    PositionCounts& total = folded[at.row % period];
    total.row = at.row % period;
    add(total, at.rows_compared, at.rows_beyond_limit);
  }
  std::vector<PositionCounts> list;
  for (const auto& [row, counts] : folded) {
    list.push_back(counts);
  }
  return list;
}

/// True if some positions are never wrong and the others are wrong in at least three rows of four.
bool repeats(const std::vector<PositionCounts>& folded) {
  bool some_right = false;
  for (const PositionCounts& at : folded) {
    some_right |= at.rows_beyond_limit == 0;
    if (at.rows_beyond_limit > 0 && 4 * at.rows_beyond_limit < 3 * at.rows_compared) {
      return false;
    }
  }
  return some_right;
}

void find_period(const std::vector<PositionCounts>& positions, RowPattern& pattern) {
  if (pattern.rows_beyond_limit == 0) {
    return;
  }
  for (std::int64_t period = kLeastPeriod; period <= kGreatestPeriod; period *= 2) {
    const std::vector<PositionCounts> folded = fold(positions, period);
    if (positions.back().row + 1 >= 2 * period && repeats(folded)) {
      pattern.period = period;
      pattern.period_ranges = wrong_ranges(folded);
      return;
    }
  }
}

}  // namespace

std::vector<PositionCounts> count_by_position(const RowMismatches& rows) {
  std::map<std::int64_t, PositionCounts> by_row;
  for (const RowFinding& found : findings_of(rows)) {
    PositionCounts& at = by_row[found.row];
    at.row = found.row;
    add(at, 1, found.beyond_limit > 0 ? 1 : 0);
    at.rows_mismatched += found.mismatched > 0 ? 1 : 0;
    at.mismatched += found.mismatched;
    at.beyond_limit += found.beyond_limit;
  }
  std::vector<PositionCounts> list;
  for (const auto& [row, counts] : by_row) {
    list.push_back(counts);
  }
  return list;
}

RowPattern find_row_pattern(const RowMismatches& rows) {
  RowPattern pattern;
  std::set<std::int64_t> heads;
  std::set<std::int64_t> wrong_heads;
  for (const RowFinding& found : findings_of(rows)) {
    ++pattern.rows;
    pattern.rows_mismatched += found.mismatched > 0 ? 1 : 0;
    pattern.rows_beyond_limit += found.beyond_limit > 0 ? 1 : 0;
    heads.insert(found.head);
    if (found.beyond_limit > 0) {
      wrong_heads.insert(found.head);
    }
  }
  pattern.heads = static_cast<std::int64_t>(heads.size());
  pattern.heads_beyond_limit = static_cast<std::int64_t>(wrong_heads.size());
  const std::vector<PositionCounts> positions = count_by_position(rows);
  pattern.ranges = wrong_ranges(positions);
  find_period(positions, pattern);
  return pattern;
}

std::vector<RowFinding> worst_rows(const RowMismatches& rows, std::size_t count) {
  std::vector<RowFinding> findings = findings_of(rows);
  std::erase_if(findings, [](const RowFinding& found) {
    return found.mismatched == 0 && found.beyond_limit == 0;
  });
  std::ranges::stable_sort(findings, [](const RowFinding& a, const RowFinding& b) {
    return std::tie(a.beyond_limit, a.mismatched) > std::tie(b.beyond_limit, b.mismatched);
  });
  findings.resize(std::min(findings.size(), count));
  return findings;
}

std::string describe(const std::vector<RowRange>& ranges, std::size_t most) {
  std::string text;
  for (std::size_t i = 0; i < std::min(ranges.size(), most); ++i) {
    const RowRange& range = ranges[i];
    text += i == 0 ? "" : ", ";
    text += range.first == range.last ? std::to_string(range.first)
                                      : fmt::format("{}-{}", range.first, range.last);
  }
  return ranges.size() > most ? text + ", ..." : text;
}

std::string describe(const RowPattern& pattern) {
  std::string text = fmt::format("{} of {} rows beyond the limit ({} with a mismatched element)",
                                 pattern.rows_beyond_limit, pattern.rows, pattern.rows_mismatched);
  if (pattern.rows_beyond_limit > 0) {
    text += fmt::format(", in {} of {} heads: rows {}", pattern.heads_beyond_limit, pattern.heads,
                        describe(pattern.ranges, kRangesInText));
  }
  if (pattern.period > 0) {
    text += fmt::format("; of every {} rows: {}", pattern.period,
                        describe(pattern.period_ranges, kRangesInText));
  }
  return text;
}

}  // namespace fatune

#include "model/row_sample.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "base/ranges.hpp"
#include "model/kv_lengths.hpp"

namespace fatune {
namespace {

bool takes_all_rows(const Problem& problem) {
  return sampled_rows_per_head(problem) == rows_per_output_head(problem);
}

// The first and the last row of every sequence of a packed problem; empty: the problem is not.
std::vector<std::int64_t> ends_of_sequences(const Problem& problem) {
  std::vector<std::int64_t> ends;
  if (is_packed(problem)) {
    for (const Sequence& sequence : sequences_of(problem)) {
      if (sequence.queries > 0) {
        ends.push_back(sequence.first_query);
        ends.push_back(sequence.first_query + sequence.queries - 1);
      }
    }
  }
  return ends;
}

// Picks rows of one head. Its rows are cut into strides of `positions` rows, and each stride is
// visited about equally often.
class HeadSampler {
 public:
  // `ends`: rows of which each head has some besides; may be empty
  HeadSampler(std::int64_t rows, std::int64_t rows_per_head, std::vector<std::int64_t> ends)
      : rows_(rows),
        positions_(std::min(kTilePositions, rows)),
        strides_((rows + positions_ - 1) / positions_),
        ends_(std::move(ends)),
        ends_per_head_(std::min(std::ssize(ends_), (rows_per_head - 2) / 2)),
        spread_(rows_per_head - 2 - ends_per_head_) {}

  // `head`: its number, with which it continues the cycles of positions and of ends that all heads
  // share.
  void append(std::vector<std::int32_t>& rows, std::int64_t head, std::mt19937_64& random) const {
    const std::int64_t first_position = head * spread_;
    std::vector<std::int64_t> positions(static_cast<std::size_t>(spread_));
    std::iota(positions.begin(), positions.end(), first_position);
    std::shuffle(positions.begin(), positions.end(), random);
    const auto begin = static_cast<std::ptrdiff_t>(rows.size());
    rows.push_back(0);
    rows.push_back(static_cast<std::int32_t>(rows_ - 1));
    for (std::int64_t i = 0; i < ends_per_head_; ++i) {
      const std::int64_t end = (head * ends_per_head_ + i) % std::ssize(ends_);
      rows.push_back(static_cast<std::int32_t>(ends_[static_cast<std::size_t>(end)]));
    }
    for (std::int64_t i = 0; i < spread_; ++i) {
      rows.push_back(row_at(i, positions[static_cast<std::size_t>(i)] % positions_));
    }
    std::sort(rows.begin() + begin, rows.end());
  }

 private:
  [[nodiscard]] std::int32_t row_at(std::int64_t i, std::int64_t position) const {
    const std::int64_t row = i * strides_ / spread_ * positions_ + position;
    return static_cast<std::int32_t>(row < rows_ ? row : row - positions_);
  }

  std::int64_t rows_;
  std::int64_t positions_;
  std::int64_t strides_;
  std::vector<std::int64_t> ends_;
  std::int64_t ends_per_head_;
  std::int64_t spread_;  // rows other than the first, the last and those ends
};

RowSample every_row(const Problem& problem) {
  RowSample sample{rows_per_output_head(problem), {}, true};
  sample.rows.resize(static_cast<std::size_t>(output_heads(problem) * sample.rows_per_head));
  for (std::size_t i = 0; i < sample.rows.size(); ++i) {
    sample.rows[i] = static_cast<std::int32_t>(i % static_cast<std::size_t>(sample.rows_per_head));
  }
  return sample;
}

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
  return mapped(folded, [](const auto& one) { return one.second; });
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

std::int64_t sampled_rows_per_head(const Problem& problem) {
  if (output_rows(problem) <= kAllRowsLimit &&
      output_rows(problem) * problem.seq_len_kv <= kAllScoresLimit) {
    return rows_per_output_head(problem);
  }
  constexpr std::int64_t kFirstAndLast = 2;
  const std::int64_t share = kSampledRows / output_heads(problem);
  return std::min(rows_per_output_head(problem), std::max(share, kFirstAndLast + 1));
}

RowSample sample_rows(const Problem& problem, std::uint64_t seed) {
  if (takes_all_rows(problem)) {
    return every_row(problem);
  }
  RowSample sample{sampled_rows_per_head(problem), {}, false};
  sample.rows.reserve(static_cast<std::size_t>(sample.rows_per_head * output_heads(problem)));
  std::mt19937_64 random(seed);
  const HeadSampler sampler(rows_per_output_head(problem), sample.rows_per_head,
                            ends_of_sequences(problem));
  for (std::int64_t head = 0; head < output_heads(problem); ++head) {
    sampler.append(sample.rows, head, random);
  }
  return sample;
}

std::string describe_rows(const Problem& problem) {
  if (takes_all_rows(problem)) {
    return "all rows";
  }
  return fmt::format("{} of {} rows", sampled_rows_per_head(problem) * output_heads(problem),
                     output_rows(problem));
}

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
  return mapped(by_row, [](const auto& one) { return one.second; });
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

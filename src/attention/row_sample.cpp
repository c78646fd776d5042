#include "attention/row_sample.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <random>

namespace fatune {
namespace {

std::int64_t output_heads(const Problem& problem) { return problem.batch * problem.heads; }

bool affords_all_rows(const Problem& problem) {
  return output_rows(problem) <= kAllRowsLimit &&
         output_rows(problem) * problem.seq_len_kv <= kAllScoresLimit;
}

bool takes_all_rows(const Problem& problem) {
  return sampled_rows_per_head(problem) == problem.seq_len;
}

// Picks rows of one head. The sequence is cut into strides of `positions` rows, and each stride is
// visited about equally often. The caller names the positions within the strides.
class HeadSampler {
 public:
  HeadSampler(std::int64_t seq_len, std::int64_t rows_per_head)
      : seq_len_(seq_len),
        positions_(std::min(kTilePositions, seq_len)),
        strides_((seq_len + positions_ - 1) / positions_),
        spread_(rows_per_head - 2) {}

  // `first_position`: where this head continues the cycle of positions that all heads share.
  void append(std::vector<std::int32_t>& rows, std::int64_t first_position,
              std::mt19937_64& random) const {
    std::vector<std::int64_t> positions(static_cast<std::size_t>(spread_));
    std::iota(positions.begin(), positions.end(), first_position);
    std::shuffle(positions.begin(), positions.end(), random);
    const auto begin = static_cast<std::ptrdiff_t>(rows.size());
    rows.push_back(0);
    rows.push_back(static_cast<std::int32_t>(seq_len_ - 1));
    for (std::int64_t i = 0; i < spread_; ++i) {
      rows.push_back(row_at(i, positions[static_cast<std::size_t>(i)] % positions_));
    }
    std::sort(rows.begin() + begin, rows.end());
  }

 private:
  [[nodiscard]] std::int32_t row_at(std::int64_t i, std::int64_t position) const {
    const std::int64_t row = i * strides_ / spread_ * positions_ + position;
    return static_cast<std::int32_t>(row < seq_len_ ? row : row - positions_);
  }

  std::int64_t seq_len_;
  std::int64_t positions_;
  std::int64_t strides_;
  std::int64_t spread_;  // rows other than the first and the last
};

RowSample every_row(const Problem& problem) {
  RowSample sample{problem.seq_len, {}, true};
  sample.rows.resize(static_cast<std::size_t>(output_rows(problem)));
  for (std::size_t i = 0; i < sample.rows.size(); ++i) {
    sample.rows[i] = static_cast<std::int32_t>(i % static_cast<std::size_t>(problem.seq_len));
  }
  return sample;
}

}  // namespace

std::int64_t sampled_rows_per_head(const Problem& problem) {
  if (affords_all_rows(problem)) {
    return problem.seq_len;
  }
  constexpr std::int64_t kFirstAndLast = 2;
  const std::int64_t share = kSampledRows / output_heads(problem);
  return std::min(problem.seq_len, std::max(share, kFirstAndLast + 1));
}

RowSample sample_rows(const Problem& problem, std::uint64_t seed) {
  if (takes_all_rows(problem)) {
    return every_row(problem);
  }
  RowSample sample{sampled_rows_per_head(problem), {}, false};
  sample.rows.reserve(static_cast<std::size_t>(sample.rows_per_head * output_heads(problem)));
  std::mt19937_64 random(seed);
  const HeadSampler sampler(problem.seq_len, sample.rows_per_head);
  for (std::int64_t head = 0; head < output_heads(problem); ++head) {
    sampler.append(sample.rows, head * (sample.rows_per_head - 2), random);
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

}  // namespace fatune

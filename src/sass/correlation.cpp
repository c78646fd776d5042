#include "sass/correlation.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "core/statistics.hpp"

namespace fatune {
namespace {

constexpr std::size_t kLeastPoints = 5;

std::vector<double> ranks_of(std::span<const double> values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  std::vector<double> ranks(values.size());
  for (std::size_t from = 0; from < order.size();) {
    std::size_t to = from;
    while (to < order.size() && values[order[to]] == values[order[from]]) {
      ++to;
    }
    for (std::size_t i = from; i < to; ++i) {
      ranks[order[i]] = static_cast<double>(from + to - 1) / 2.0;
    }
    from = to;
  }
  return ranks;
}

/// Pearson's correlation of the ranks; NaN (0 / 0) if a side is constant.
double correlation(const std::vector<double>& x, const std::vector<double>& y) {
  const double mean = static_cast<double>(x.size() - 1) / 2.0;
  double xy = 0.0;
  double xx = 0.0;
  double yy = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xy += (x[i] - mean) * (y[i] - mean);
    xx += (x[i] - mean) * (x[i] - mean);
    yy += (y[i] - mean) * (y[i] - mean);
  }
  return xy / std::sqrt(xx * yy);
}

}  // namespace

std::optional<RankCorrelation> rank_correlation(std::span<const double> x,
                                                std::span<const double> y, double confidence) {
  if (x.size() < kLeastPoints) {
    return std::nullopt;
  }
  const double r = correlation(ranks_of(x), ranks_of(y));
  if (!std::isfinite(r)) {
    return std::nullopt;
  }
  constexpr double kAlmostOne = 1.0 - 1e-12;  // atanh(1) is infinite
  const double z = std::atanh(std::clamp(r, -kAlmostOne, kAlmostOne));
  const double half = normal_quantile(confidence) *
                      std::sqrt((1.0 + r * r / 2.0) / (static_cast<double>(x.size()) - 3.0));
  return RankCorrelation{r, std::tanh(z - half), std::tanh(z + half)};
}

}  // namespace fatune

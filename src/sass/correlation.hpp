#pragma once

#include <optional>
#include <span>

namespace fatune {

/// How far two quantities rise together, from -1 to 1, and between which values the true one lies.
struct RankCorrelation {
  double spearman = 0.0;
  double low = -1.0;
  double high = 1.0;

  /// Part of the spread of the ranks of one that goes with the ranks of the other, in percent.
  [[nodiscard]] double share_percent() const { return 100.0 * spearman * spearman; }
};

/// Spearman's rank correlation, equal values sharing their mean rank; the interval by Fisher's z
/// with the variance (1 + r^2/2) / (n - 3). Nothing for fewer than 5 points, or when one side is
/// constant. Source: D. G. Bonett and T. A. Wright, Sample size requirements for estimating
/// Pearson, Kendall and Spearman correlations, Psychometrika 65 (2000). Precondition: as many in
/// `x` as in `y`, all finite; 0 < confidence < 1.
[[nodiscard]] std::optional<RankCorrelation> rank_correlation(std::span<const double> x,
                                                              std::span<const double> y,
                                                              double confidence);

}  // namespace fatune

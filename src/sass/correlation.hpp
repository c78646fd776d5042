#pragma once

#include <optional>
#include <span>

namespace fatune {

/// The rank correlation of two quantities, from -1 to 1, with its confidence interval.
struct RankCorrelation {
  double spearman = 0.0;
  double low = -1.0;
  double high = 1.0;

  /// The share of the variance of one side's ranks that the other side's ranks explain, in percent.
  [[nodiscard]] double share_percent() const { return 100.0 * spearman * spearman; }
};

/// Spearman's rank correlation; equal values share their mean rank. The interval uses Fisher's z
/// with the variance (1 + r^2/2) / (n - 3). Returns nothing for fewer than 5 points, or if one side
/// is constant. Source: D. G. Bonett and T. A. Wright, Sample size requirements for estimating
/// Pearson, Kendall and Spearman correlations, Psychometrika 65 (2000). Precondition: `x` and `y`
/// have the same length and only finite values; 0 < confidence < 1.
[[nodiscard]] std::optional<RankCorrelation> rank_correlation(std::span<const double> x,
                                                              std::span<const double> y,
                                                              double confidence);

}  // namespace fatune

#include "inspect/sass/attribution.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <tuple>

#include "base/ranges.hpp"
#include "model/statistics.hpp"

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

constexpr double kFlopPerUnit = 1e6;

/// A family's parameter, and its values in the first and the second of two configurations.
using Flip = std::tuple<std::string, std::size_t, ParamValue, ParamValue>;
/// The samples that differ only in this parameter, the one with the smaller value first.
using Pairs = std::vector<std::pair<const WorkSample*, const WorkSample*>>;

/// The only parameter in which two configurations of a family differ.
std::optional<std::size_t> only_difference(const Config& a, const Config& b) {
  if (a.family != b.family) {
    return std::nullopt;
  }
  std::optional<std::size_t> difference;
  for (std::size_t i = 0; i < a.values.size(); ++i) {
    if (a.values[i] != b.values.at(i)) {
      if (difference) {
        return std::nullopt;
      }
      difference = i;
    }
  }
  return difference;
}

std::map<Flip, Pairs> find_pairs(const std::vector<WorkSample>& samples) {
  std::map<Flip, Pairs> pairs;
  for (const WorkSample& a : samples) {
    for (const WorkSample& b : samples) {
      const auto parameter = only_difference(a.config, b.config);
      if (parameter && a.config.values[*parameter] < b.config.values[*parameter]) {
        const Flip flip{a.config.family, *parameter, a.config.values[*parameter],
                        b.config.values[*parameter]};
        pairs[flip].emplace_back(&a, &b);
      }
    }
  }
  return pairs;
}

ParameterEffect effect_of(std::size_t parameter, const Pairs& pairs, std::size_t which) {
  const auto& [first, second] = pairs.front();
  ParameterEffect effect{first->config.family,
                         first->parameters.at(parameter).name,
                         first->parameters.at(parameter).text,
                         second->parameters.at(parameter).text,
                         static_cast<OpcodeClass>(which),
                         static_cast<std::int64_t>(pairs.size())};
  const auto count = static_cast<double>(pairs.size());
  for (const auto& [a, b] : pairs) {
    effect.mean_before += a->counts.classes.at(which) / count;
    effect.mean_difference += (b->counts.classes.at(which) - a->counts.classes.at(which)) / count;
  }
  return effect;
}

bool ever_changes(const Pairs& pairs, std::size_t which) {
  return std::ranges::any_of(pairs, [&](const auto& pair) {
    return pair.first->counts.classes.at(which) != pair.second->counts.classes.at(which);
  });
}

template <typename Get>
void add_correlation(std::string what, const std::vector<WorkCounts>& counts,
                     const std::vector<double>& times_us, double confidence, Get get,
                     std::vector<ClassCorrelation>& correlations) {
  if (const auto correlation = rank_correlation(mapped(counts, get), times_us, confidence)) {
    correlations.push_back(
        {std::move(what), static_cast<std::int64_t>(counts.size()), *correlation});
  }
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

std::optional<WorkCounts> work_counts(const SassProfile& profile) {
  const std::int64_t flop =
      profile.main_loop ? profile.main_loop->tensor_flop.value_or(0) : std::int64_t{0};
  if (flop == 0) {
    return std::nullopt;
  }
  const double units = static_cast<double>(flop) / kFlopPerUnit;
  WorkCounts counts;
  for (std::size_t i = 0; i < kOpcodeClasses; ++i) {
    counts.classes.at(i) = static_cast<double>(profile.classes.at(i).main_loop) / units;
  }
  counts.all = static_cast<double>(profile.all.main_loop) / units;
  return counts;
}

std::vector<ParameterEffect> parameter_effects(const std::vector<WorkSample>& samples) {
  std::vector<ParameterEffect> effects;
  for (const auto& [flip, pairs] : find_pairs(samples)) {
    for (std::size_t which = 0; which < kOpcodeClasses; ++which) {
      if (ever_changes(pairs, which)) {
        effects.push_back(effect_of(std::get<1>(flip), pairs, which));
      }
    }
  }
  std::ranges::stable_sort(effects, [](const auto& a, const auto& b) {
    return std::abs(a.mean_difference) > std::abs(b.mean_difference);
  });
  return effects;
}

std::vector<ClassCorrelation> time_correlations(const std::vector<WorkCounts>& counts,
                                                const std::vector<double>& times_us,
                                                double confidence) {
  std::vector<ClassCorrelation> correlations;
  add_correlation(
      "all", counts, times_us, confidence, [](const WorkCounts& c) { return c.all; }, correlations);
  for (std::size_t which = 0; which < kOpcodeClasses; ++which) {
    add_correlation(
        std::string(opcode_classes().at(which).name), counts, times_us, confidence,
        [which](const WorkCounts& c) { return c.classes.at(which); }, correlations);
  }
  std::ranges::stable_sort(correlations, [](const auto& a, const auto& b) {
    return std::abs(a.correlation.spearman) > std::abs(b.correlation.spearman);
  });
  return correlations;
}

}  // namespace fatune

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "search/candidate_source.hpp"

namespace fatune {

/// The limits and the seed of a search that does not try everything.
struct SearchLimits {
  std::uint64_t seed = 1;
  std::optional<std::size_t> max_configs;  ///< absent: usual_most_tried()
};

/// The most of `configs` that a search tries without an explicit limit: one in twenty, at least
/// `least`, and no more than searches have needed (docs/search.md).
[[nodiscard]] inline std::size_t usual_most_tried(std::size_t configs, std::size_t least) {
  constexpr std::size_t kMost = 256;
  return std::min(configs, std::clamp((configs + 19) / 20, least, kMost));
}

/// A search that chooses some of the configurations that can run. Without a limit it tries at least
/// Source::kUsualLeast of them.
template <typename Source>
class LimitedSearch : public CandidateSearch {
 public:
  /// `strategy`: "random", ...
  LimitedSearch(std::string_view strategy, SearchLimits limits)
      : strategy_(strategy), limits_(limits) {}

  [[nodiscard]] std::string name() const override {
    const std::string most =
        limits_.max_configs ? fmt::format(", at most {}", *limits_.max_configs) : "";
    return fmt::format("{}, seed {}{}", strategy_, limits_.seed, most);
  }
  [[nodiscard]] std::unique_ptr<CandidateSource> begin(SearchSpace space) const override {
    std::erase_if(space.points, [](const SearchPoint& point) {
      return point.guess_us <= 0.0 && !point.required;
    });
    const std::size_t most = most_tried(space.points.size());
    return std::make_unique<Source>(std::move(space), most, limits_.seed);
  }
  [[nodiscard]] std::size_t most_tried(std::size_t configs) const override {
    return std::min(configs,
                    limits_.max_configs.value_or(usual_most_tried(configs, Source::kUsualLeast)));
  }

 private:
  std::string strategy_;
  SearchLimits limits_;
};

}  // namespace fatune

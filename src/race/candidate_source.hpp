#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "model/config.hpp"
#include "model/outcome.hpp"

namespace fatune {

/// A configuration that may be tried on a problem.
struct SearchPoint {
  Config config;
  std::string pruned_by;  ///< the rule that dropped it and is being audited; empty: none
  bool required = false;  ///< its outcome is needed: every search tries it first
  double guess_us = 0.0;  ///< a guess of its time, good only for ordering; 0: it cannot run
};

/// A configuration that was fast on a similar problem. It need not be in the space.
struct Suggestion {
  Config config;
  std::string proposed_by;  ///< Result::proposed_by
};

/// The configurations that may be tried on one problem.
struct SearchSpace {
  std::vector<SearchPoint> points;         ///< no configuration twice
  std::vector<Suggestion> suggested = {};  ///< likely winners first
  /// Whether a configuration's machine code is known, so that it can be tried at once. Empty: no
  /// code is known.
  std::function<bool(const Config&)> has_code = {};
};

/// A configuration that a search wants to be tried.
struct Proposal {
  Config config;
  std::string pruned_by;    ///< SearchPoint::pruned_by
  std::string proposed_by;  ///< Result::proposed_by
};

/// Chooses the configurations that are tried on one problem. Not thread-safe: only one thread at a
/// time may call it.
class CandidateSource {
 public:
  static constexpr std::size_t kNoLimit = std::numeric_limits<std::size_t>::max();

  virtual ~CandidateSource() = default;

  /// Returns up to `most` configurations to try next, likely winners first, none of them twice. The
  /// first call comes before the problem's turn. A source may return none until it has observed
  /// outcomes. The search ends if it returns none while none of its proposals is being compiled or
  /// timed.
  [[nodiscard]] virtual std::vector<Proposal> propose(std::size_t most) = 0;
  /// Adds suggestions. Searches that learn propose them next, unless they were already tried.
  virtual void suggest(const std::vector<Suggestion>& /*suggested*/) {}
  /// Returns proposals for those of `configs` that were not proposed before. An interrupted run had
  /// tried them.
  [[nodiscard]] virtual std::vector<Proposal> propose_again(const std::vector<Config>& configs) = 0;
  /// Reports the outcome, as far as it is known, of a configuration that was proposed. While the
  /// race goes on, a time may be reported again after more samples.
  virtual void observe(const Config& /*config*/, const Outcome& /*outcome*/) {}
  /// Reports that the race has nothing to do until more is proposed, or has ended. The outcomes
  /// reported until now are all that is known.
  virtual void settle() {}
  /// Whether it will propose nothing more.
  [[nodiscard]] virtual bool finished() const = 0;
  /// The number of configurations that could run and were not proposed.
  [[nodiscard]] virtual std::size_t untried_count() const { return 0; }
  /// Why they were not; empty: there are none, or it might still propose them.
  [[nodiscard]] virtual std::string untried_because() const { return {}; }
  /// Whether outcomes change the proposals. The first call of propose() asks a source that does not
  /// learn for all configurations, and one that learns for as many as there are compilers, or more
  /// if its problem has to wait for its turn. Later calls ask for as many as there are idle
  /// compilers.
  [[nodiscard]] virtual bool learns() const = 0;
};

/// The number of configurations that the first call of propose() asks for, of a problem whose turn
/// comes first.
[[nodiscard]] inline std::size_t first_request(const CandidateSource& source, std::size_t jobs) {
  return source.learns() ? jobs : CandidateSource::kNoLimit;
}

/// A search strategy.
class CandidateSearch {
 public:
  virtual ~CandidateSearch() = default;

  /// A part of a run's identity, beside the plan: a run does not resume one with another name. It
  /// contains the strategy and everything that its choices depend on, such as a seed. It is empty
  /// for the complete list, so that runs from before there were names can be resumed.
  [[nodiscard]] virtual std::string name() const = 0;
  /// Begins a search of one problem.
  [[nodiscard]] virtual std::unique_ptr<CandidateSource> begin(SearchSpace space) const = 0;
  /// The most of `configs` configurations that it tries, not counting required ones.
  [[nodiscard]] virtual std::size_t most_tried(std::size_t configs) const = 0;
};

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

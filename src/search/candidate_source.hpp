#pragma once

#include <cstddef>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "core/config.hpp"
#include "core/outcome.hpp"

namespace fatune {

/// A configuration that may be tried on a problem.
struct SearchPoint {
  Config config;
  std::string pruned_by;  ///< the rule that dropped it and is audited; empty: none did
  bool required = false;  ///< its outcome is needed: it is tried first, whatever the search
  double guess_us = 0.0;  ///< how long it may take, good only for ordering; 0: it cannot run
};

/// The features of a configuration for a model of times: its parameters, resources and terms of the
/// estimate. Not a number: its family has no such feature. The same count for all configurations.
using FeaturesOf = std::function<std::vector<float>(const Config&)>;

/// A configuration that was fast on a problem like this one; it need not be in the space.
struct Suggestion {
  Config config;
  std::string proposed_by;  ///< Result::proposed_by
};

/// What may be tried on one problem.
struct SearchSpace {
  std::vector<SearchPoint> points;  ///< no configuration twice
  FeaturesOf features;
  std::vector<Suggestion> suggested = {};  ///< likely winners first
};

/// A configuration that a search wants to be tried.
struct Proposal {
  Config config;
  std::string pruned_by;    ///< SearchPoint::pruned_by
  std::string proposed_by;  ///< Result::proposed_by
};

/// Chooses the configurations that are tried on one problem. No two threads call it at a time.
class CandidateSource {
 public:
  static constexpr std::size_t kNoLimit = std::numeric_limits<std::size_t>::max();

  CandidateSource() = default;
  CandidateSource(const CandidateSource&) = delete;
  CandidateSource& operator=(const CandidateSource&) = delete;
  virtual ~CandidateSource() = default;

  /// Up to `most` configurations to try next, likely winners first, none of them twice. The first
  /// call comes before the problem's turn. It may give none until it is told outcomes. Giving none
  /// when nothing that it has proposed is still being compiled or timed ends the search.
  [[nodiscard]] virtual std::vector<Proposal> propose(std::size_t most) = 0;
  /// Searches that learn propose these next, where they have not tried them.
  virtual void suggest(const std::vector<Suggestion>& /*suggested*/) {}
  /// Proposals of those of `configs` that were not proposed before: an interrupted run had tried
  /// them.
  [[nodiscard]] virtual std::vector<Proposal> propose_again(const std::vector<Config>& configs) = 0;
  /// The outcome of a configuration that it has proposed, as far as it is known. While the race
  /// goes on, a time may be told again when more samples were taken.
  virtual void observe(const Config& /*config*/, const Outcome& /*outcome*/) {}
  /// The race has nothing to do until more is proposed, or has ended: what outcomes were told is
  /// all that is known.
  virtual void settle() {}
  /// Whether it will propose nothing more.
  [[nodiscard]] virtual bool finished() const = 0;
  /// Whether outcomes change what it proposes. The first call asks one that does not for all, and
  /// one that does for as many as there are compilers; later calls ask for as many as are idle.
  [[nodiscard]] virtual bool learns() const = 0;
};

/// What the first call of propose() asks for.
[[nodiscard]] inline std::size_t first_request(const CandidateSource& source, std::size_t jobs) {
  return source.learns() ? jobs : CandidateSource::kNoLimit;
}

/// A way of searching.
class CandidateSearch {
 public:
  CandidateSearch() = default;
  CandidateSearch(const CandidateSearch&) = delete;
  CandidateSearch& operator=(const CandidateSearch&) = delete;
  virtual ~CandidateSearch() = default;

  /// Part of a run's identity, beside the plan: runs whose names differ are not resumed one by the
  /// other. It names the strategy and everything that its choices depend on, such as a seed. Empty
  /// for the complete list, as before there were names, so that older runs can be resumed.
  [[nodiscard]] virtual std::string name() const = 0;
  /// What `space.features` refers to outlives the source.
  [[nodiscard]] virtual std::unique_ptr<CandidateSource> begin(SearchSpace space) const = 0;
  /// How many of `configs` configurations it tries at most, those that are required not counted.
  [[nodiscard]] virtual std::size_t most_tried(std::size_t configs) const = 0;
};

}  // namespace fatune

#pragma once

#include <cstddef>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "core/config.hpp"
#include "core/outcome.hpp"
#include "engine/problem_plan.hpp"

namespace fatune {

/// A configuration that a search wants to be tried.
struct Proposal {
  Config config;
  std::string pruned_by;  ///< the rule that dropped it and is audited; empty: none did
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
  /// call comes before the problem's turn and has no limit; later ones ask for as many as there
  /// are idle compilers. It may give none until it is told outcomes. Giving none when nothing that
  /// it has proposed is still being compiled or timed ends the search. An interrupted race is
  /// resumed when all of its candidates are among those of the first call.
  [[nodiscard]] virtual std::vector<Proposal> propose(std::size_t most) = 0;
  /// The outcome of a configuration that it has proposed, as far as it is known. While the race
  /// goes on, a time may be told again when more samples were taken.
  virtual void observe(const Config& /*config*/, const Outcome& /*outcome*/) {}
  /// Whether it will propose nothing more.
  [[nodiscard]] virtual bool finished() const = 0;
};

/// A guess of how long a configuration takes, in microseconds, which is good only for ordering; 0
/// where it cannot run.
using GuessUs = std::function<double(const Config&)>;

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
  /// `plan` and what `guess` refers to outlive the source.
  [[nodiscard]] virtual std::unique_ptr<CandidateSource> begin(const ProblemPlan& plan,
                                                               const GuessUs& guess) const = 0;
};

}  // namespace fatune

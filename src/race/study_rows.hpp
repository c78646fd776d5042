#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/problem.hpp"
#include "model/report.hpp"
#include "model/statistics.hpp"

// Contents of outputs other than results.
namespace fatune {

/// The rate of another attention implementation on a problem.
struct PeerFigure {
  std::string peer;
  double literature_tflops = 0.0;
};

/// Other attention implementations and fatune's winner, timed in turns (scripts/compare_peers).
struct PeerProblem {
  Problem problem;
  std::optional<double> winner_tflops;  ///< its rate in these rounds; absent: it has no time
  std::optional<double> sm_mhz;         ///< during the measurement; absent: not known
  std::vector<PeerFigure> figures;
};

struct PeerStudy {
  std::string device;
  std::string measured_at;  ///< ISO 8601
  std::string command_line;
  std::vector<PeerProblem> problems;
};

/// How a count of machine instructions correlates with times of a problem (`fatune sass why`).
struct CodeCorrelation {
  std::string what;  ///< class of instructions, or another count
  double spearman = 0.0;
  double low = 0.0;  ///< lower end of its confidence interval
  double high = 0.0;
};

struct CodeStudy {
  std::string problem;  ///< the problem in words, with the kernel family
  std::vector<CodeCorrelation> correlations;
};

/// A ranked configuration on one problem, as a row of the table that plots point to.
struct StudyRow {
  std::int64_t number = 0;  ///< counts from 0; marks of plots refer to it
  const RunReport* run;
  const ProblemReport* problem;
  const Result* result;
  double slower_percent = 0.0;  ///< than the fastest of its problem in its run
};

struct StudyRows {
  std::vector<StudyRow> rows;  ///< ordered by run, problem and rank
  std::size_t all = 0;         ///< number of all results; more than `rows`: a sample
};

/// All ranked results, or about `most` of them: the same share of each problem, half of it the
/// fastest, the other half evenly spaced over the rest of its ranking. The reports must outlive the
/// rows.
[[nodiscard]] StudyRows study_rows(const std::vector<RunReport>& runs, std::size_t most);

struct RoundOfRace {
  int round = 0;
  std::size_t contenders = 0;  ///< left in the race after it
};

/// Counts the configurations that were left after each round in which one was eliminated. The first
/// entry is round 0 with all configurations that the race sampled. Round 0 appears again if some
/// were eliminated at admission. Results taken from another configuration or an earlier run are not
/// counted. Empty for a problem that was not raced.
[[nodiscard]] std::vector<RoundOfRace> race_course(const ProblemReport& problem);

/// A configuration that was faster than those proposed before it.
struct BestSoFar {
  std::int64_t proposal = 0;  ///< Result::proposal
  double us = 0.0;            ///< its time in the ranking
  std::string config;         ///< short form
  std::string by;             ///< Result::proposed_by
};

/// The configurations of a problem that were faster than all proposed before them, in the order of
/// the proposals. Configurations whose place is not known are left out.
[[nodiscard]] std::vector<BestSoFar> search_course(const ProblemReport& problem);

struct Costs {
  double first = 0.0;
  double second = 0.0;

  auto operator<=>(const Costs&) const = default;
};

/// Returns the indices of the costs that no other one dominates (at least as good in both, better
/// in one), by ascending first cost. Less is better. Equal costs are all included.
[[nodiscard]] std::vector<std::size_t> pareto_front(const std::vector<Costs>& costs);

/// The results with one value of a parameter.
struct ValueStudy {
  std::string value;
  std::size_t results = 0;
  FiveNumbers slower_percent;  ///< than the fastest of their problem (study_rows.hpp)
};

/// The effect of changing a parameter from one value to another, over pairs of configurations that
/// are equal otherwise.
struct PairStudy {
  std::string from;
  std::string to;
  std::size_t pairs = 0;
  std::size_t faster = 0;      ///< pairs in which `to` is the faster one
  FiveNumbers change_percent;  ///< the change of the time; negative: `to` is faster
};

struct ParameterStudy {
  std::string parameter;
  std::vector<ValueStudy> values;  ///< numbers in their order, then texts
  /// Pairs of neighbouring values, then other pairs, as far as they exist. A parameter with more
  /// than 16 values has only pairs of neighbours.
  std::vector<PairStudy> pairs;
  /// The median change of the time, in either direction, over all of `pairs` together; 0: there are
  /// no pairs.
  double change_percent = 0.0;
};

/// Returns a study for each parameter with at least two values in the ranked results, by descending
/// `change_percent`. Results of different problems, families or runs are never compared. Results
/// that took another's outcome (same_code_as) count as well. Of several results with the same
/// parameters on one problem, only the first is compared.
[[nodiscard]] std::vector<ParameterStudy> study_parameters(const std::vector<RunReport>& runs);

}  // namespace fatune

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "attention/problem.hpp"

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

}  // namespace fatune

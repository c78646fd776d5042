#pragma once

#include "core/outcome.hpp"
#include "core/problem.hpp"
#include "core/report.hpp"
#include "measure/measurer.hpp"

namespace fatune {

/// Finds out how long compiled configurations take: by measuring, or by estimating.
class Evaluator {
 public:
  Evaluator() = default;
  Evaluator(const Evaluator&) = delete;
  Evaluator& operator=(const Evaluator&) = delete;
  Evaluator(Evaluator&&) = delete;
  Evaluator& operator=(Evaluator&&) = delete;
  virtual ~Evaluator() = default;

  [[nodiscard]] virtual bool measures() const noexcept = 0;
  /// Before the first evaluate() of a problem. An Error ends the command.
  virtual void begin_problem(const Problem& problem) = 0;
  /// Precondition: `entry` has the artifact's facts, and a block fits an SM.
  [[nodiscard]] virtual Outcome evaluate(const Entry& entry, const Candidate& candidate) = 0;
  /// No further candidate can be evaluated: what happened to the last one has ended it.
  [[nodiscard]] virtual bool lost() const noexcept { return false; }
};

}  // namespace fatune

#pragma once

#include "attention/problem.hpp"
#include "report/report.hpp"

namespace fatune {

/// Watches a run. Several threads may call it at the same time. This base class ignores all
/// events.
class RunObserver {
 public:
  RunObserver() = default;
  RunObserver(const RunObserver&) = delete;
  RunObserver& operator=(const RunObserver&) = delete;
  virtual ~RunObserver() = default;

  virtual void begin_problem(const Problem& /*problem*/) {}
  /// One more configuration of any problem is done or has joined its race.
  virtual void step() {}
  /// One more kernel is to be compiled, for any number of configurations.
  virtual void expect_kernel() {}
  /// A kernel was compiled, or taken from the cache, in so much CPU time.
  virtual void compiled(double /*cpu_s*/) {}
  /// A kernel was emulated, or its verdict taken from the cache, in so much CPU time.
  virtual void emulated(double /*cpu_s*/) {}
  /// `report` may be of a run that was interrupted within the problem.
  virtual void end_problem(const ProblemReport& /*report*/) {}
};

}  // namespace fatune

#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "attention/problem.hpp"
#include "process/worker_process.hpp"

namespace fatune {

/// The settings behind the deadlines.
struct DeadlineSettings {
  std::chrono::milliseconds start{30'000};     ///< limit for a worker to open its GPU
  std::chrono::milliseconds problem{120'000};  ///< limit for making inputs and references
  std::chrono::milliseconds floor{5'000};      ///< the least deadline for measuring
  double times_best = 50.0;  ///< a run may take this many times the best sample so far
  std::chrono::milliseconds counting{60'000};  ///< limit for preparing counters and a warm chip
};

/// How long each step of measuring may take before the watchdog calls it hung. A deadline consists
/// of a floor for all but the kernel (loading, comparing with references, a busy host) and, for
/// each run of the kernel, a multiple of the best sample of the problem. Before there is a sample,
/// each run may take as long as the problem takes at half a TFLOP/s, which any tensor-core kernel
/// exceeds a hundredfold.
class Deadlines {
 public:
  explicit Deadlines(DeadlineSettings settings) : settings_(settings) {}

  void begin_problem(const Problem& problem);
  void saw_sample(double sample_us);

  [[nodiscard]] std::chrono::milliseconds start() const { return settings_.start; }
  [[nodiscard]] std::chrono::milliseconds problem() const { return settings_.problem; }
  [[nodiscard]] std::chrono::milliseconds runs(int count) const;
  /// The deadline for `runs` runs under hardware counters, each of them in many passes.
  [[nodiscard]] std::chrono::milliseconds counting(int runs) const;
  /// The deadline for one run on the problem, and one on its probe problem for each kind of input.
  [[nodiscard]] std::chrono::milliseconds verification() const;

 private:
  [[nodiscard]] std::chrono::milliseconds within(double runs) const;

  DeadlineSettings settings_;
  double allowance_us_ = 0.0;  // one run's allowance
  double best_us_ = 0.0;       // 0: none yet
  double probe_share_ = 1.0;   // work of a run on the probe problem over one on the problem
};

/// Deadlines for a worker that runs under a profiler or a sanitizer, where kernels may take a
/// thousand times as long.
[[nodiscard]] DeadlineSettings under_tool(const DeadlineSettings& settings);

/// The defaults. If the environment has FATUNE_WATCHDOG_S, `floor` is that many seconds, and
/// `start` and `problem` are at least that. Throws Error(usage) if it is no positive number.
[[nodiscard]] DeadlineSettings deadline_settings_from_environment();

struct WorkerSettings {
  WorkerCommand command;  ///< this program itself, or a test's
  int device_ordinal = 0;
  DeadlineSettings deadlines;
  bool count_rows = false;  ///< verifications say which rows are wrong
};

/// Settings for a worker that runs this program, or the one that FATUNE_WORKER names, under
/// `launcher` (WorkerCommand) unless that is empty. Deadlines are those of the environment, longer
/// under a launcher. Throws Error(usage) if the environment has an invalid value.
[[nodiscard]] WorkerSettings worker_settings(int device_ordinal,
                                             const std::vector<std::string>& launcher = {});

}  // namespace fatune

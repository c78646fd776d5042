#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "attention/problem.hpp"
#include "core/candidate_id.hpp"
#include "core/gpu_reading.hpp"
#include "core/kernel_code.hpp"
#include "core/measure_policy.hpp"
#include "core/outcome.hpp"
#include "core/part_tail.hpp"

namespace fatune {

/// The kernel of a candidate, ready to be launched on the current problem. A plain value, so that
/// it can be sent to another process.
struct CandidateKernel {
  std::string label;  ///< the configuration's short form: for messages
  std::shared_ptr<const Artifact> artifact;
  LaunchGeometry geometry;
  LaunchGeometry probe_geometry;  ///< the launch on probe_problem(problem)
  std::string family = {};        ///< for the names that profilers show (attention/range_names.hpp)
  bool kept_in_race = false;      ///< ProblemPlan::kept_in_race is this one
  /// Whether it is launched many times in a row before it is admitted (repeated_launches.hpp).
  bool is_repeated = false;
  /// The launch on small_problem(problem); absent: the probe problem is used, because the machine
  /// code would be another there.
  std::optional<LaunchGeometry> small_geometry = {};
  /// The launch on the problem's part; absent: it has none, or is not launched there.
  std::optional<LaunchGeometry> part_geometry = {};
  PartTail part_tail = {};  ///< for its race; where it has a launch on the part
};

/// What a sample is of: the problem itself, or its part (part_of_problem.hpp).
enum class Extent { whole, part };

struct SampleRequest {
  int count = 1;
  int round = 0;  ///< of the first one
  Extent extent = Extent::whole;
  /// The admitted candidate of which such a sample is likely to be asked for next.
  std::optional<CandidateId> then = {};
};

/// The result of admitting a candidate.
struct Admission {
  Verification verification;  ///< when it was admitted
  /// A proper sample: that of the run that was verified, on the part where it has a launch there.
  double first_us = 0.0;
  std::optional<Outcome>
      failure;  ///< when it was not: WrongResult, Implausible, Unlaunchable, Crashed, TimedOut
  std::optional<GpuReading> reading = {};  ///< of that sample
};

/// Samples that were taken one after another.
struct Samples {
  std::vector<double> samples_us;  ///< all that were asked for, or those before the failure
  std::vector<std::optional<GpuReading>> readings;  ///< one for each sample
  bool gate_in_use = false;                         ///< the device gate held during all of them
  bool deterministic = true;  ///< of the candidate so far: no right output differed from another
                              ///< one of the same inputs
  /// Of its first run on the problem itself, where it was admitted on the part: of normal inputs.
  std::optional<Verification> verification = {};
  /// WrongResult, Implausible, Crashed or TimedOut; the candidate is retired with it.
  std::optional<Outcome> failure;
};

/// How to read hardware counters.
struct CountRequest {
  int runs = 1;
  /// Read in this process, through CUPTI: "gpu__time_duration.sum", ... Empty: a profiler in front
  /// of the process reads; each run is in a profiler range (cuProfilerStart) of its own.
  std::vector<std::string> metrics;
};

/// The values of the counters.
struct Counted {
  /// By metric, in base units, of each run; see CountRequest. A metric without a value (0/0) is
  /// absent.
  std::vector<std::map<std::string, double>> runs;
  std::optional<Outcome> failure;  ///< Crashed or TimedOut; it is retired with it
};

/// Verifies and times candidates on one GPU. Whatever a candidate does is an Outcome; an Error
/// means that measuring as a whole cannot continue.
///
/// Callers interleave candidates: admit() several, sample() them in turn, recheck() and retire()
/// each.
class Measurer {
 public:
  explicit Measurer(MeasurePolicy policy) : policy_(policy) {}
  Measurer(const Measurer&) = delete;
  Measurer& operator=(const Measurer&) = delete;
  virtual ~Measurer() = default;

  [[nodiscard]] const MeasurePolicy& policy() const noexcept { return policy_; }

  /// Prepares inputs and references, and retires all candidates of the problem before. `kernels` is
  /// compiled from measurement_request() for this problem. `part`: of the problem, for candidates
  /// that have a launch there. Throws Error(too_large) before anything
  /// is allocated when the problem does not fit, and Error(gpu_failure) when the driver fails.
  virtual void begin_problem(const Problem& problem, const Artifact& kernels,
                             const std::optional<Problem>& part) = 0;
  void begin_problem(const Problem& problem, const Artifact& kernels) {
    begin_problem(problem, kernels, std::nullopt);
  }

  /// Loads and verifies a candidate; only a right one is admitted. `id` must not be in use. Runs it
  /// on each kind of input on the probe problem, then once, as a sample, on the problem itself, or
  /// on its part where it has a launch there (verification.hpp). Precondition of all of these:
  /// begin_problem() has returned, and not context_lost().
  [[nodiscard]] virtual Admission admit(CandidateId id, const CandidateKernel& kernel) = 0;
  /// Takes timed samples, on normal inputs, of an admitted candidate. Samples take turns on several
  /// sets of inputs, and the first one is on that of the round (0, 1, ...), so that those of one
  /// round are of the same inputs. Each is checked (watched_sampler.hpp). Precondition for the
  /// part: the candidate has a launch there.
  [[nodiscard]] virtual Samples sample(CandidateId id, const SampleRequest& request) = 0;
  /// Takes samples on the problem itself from the first round on.
  [[nodiscard]] Samples sample(CandidateId id, int count) {
    return sample(id, SampleRequest{.count = count});
  }
  /// Verifies the output of a run on normal inputs once more, of the last sample if that was this
  /// candidate's: a race may spare one run of many. Nothing: it is right; else it is retired.
  [[nodiscard]] virtual std::optional<Outcome> recheck(CandidateId id) = 0;
  /// Runs an admitted candidate on normal inputs under the conditions of a sample (a chip that has
  /// been busy, a cold L2), and counts. Error(gpu_failure) when the counters cannot be read: no
  /// CUPTI, no permission, a metric or a device that it does not know.
  [[nodiscard]] virtual Counted count(CandidateId id, const CountRequest& request) = 0;
  /// Frees what an admitted candidate holds. Does nothing when it is not admitted.
  virtual void retire(CandidateId id) = 0;

  /// True once a candidate has killed the GPU context of this process (illegal address, launch
  /// failure ...): its outcome says so, and nothing can be measured here any more.
  [[nodiscard]] virtual bool context_lost() const noexcept = 0;

 private:
  MeasurePolicy policy_;
};

}  // namespace fatune

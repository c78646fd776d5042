#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/members.hpp"
#include "model/candidate_list.hpp"
#include "model/device_limits.hpp"
#include "model/kernel_code.hpp"
#include "model/measure_policy.hpp"
#include "model/outcome.hpp"
#include "model/part_tail.hpp"
#include "model/problem.hpp"

// The lists of members are those of the worker's messages (docs/worker-protocol.md).
namespace fatune {

/// The kernel of a candidate, ready to be launched on the current problem. A plain value, so that
/// it can be sent to another process.
struct CandidateKernel {
  std::string label;  ///< the configuration's short form, for messages
  std::shared_ptr<const Artifact> artifact;
  LaunchGeometry geometry;
  LaunchGeometry probe_geometry;  ///< the launch on probe_problem(problem)
  std::string family = {};        ///< part of the names that profilers show (model/problem.hpp)
  bool kept_in_race = false;      ///< ProblemPlan::kept_in_race is this one
  /// Whether it is launched many times in a row before it is admitted (RepeatedLaunches).
  bool is_repeated = false;
  /// The launch on small_problem(problem). Absent: the probe problem is used, because the small
  /// problem would need other machine code.
  std::optional<LaunchGeometry> small_geometry = {};
  /// The launch on the problem's part. Absent: there is no part, or no launch on it.
  std::optional<LaunchGeometry> part_geometry = {};
  PartTail part_tail = {};  ///< set for its race, if it has a launch on the part
};
FATUNE_DESCRIBED(CandidateKernel, (label), (artifact, kElsewhere), (geometry), (probe_geometry),
                 (family), (kept_in_race, kElsewhere), (is_repeated), (small_geometry),
                 (part_geometry), (part_tail, kElsewhere))

/// Whether a sample is of the problem itself or of its part (part_of()).
enum class Extent { whole, part };

struct SampleRequest {
  int count = 1;
  int round = 0;  ///< the first sample's round
  Extent extent = Extent::whole;
  /// The admitted candidate that is likely to be sampled next, with a sample of the same kind.
  std::optional<CandidateId> then = {};
};
FATUNE_DESCRIBED(SampleRequest, (count), (round), (extent), (then, kElsewhere))

/// The result of admitting a candidate.
struct Admission {
  Verification verification;  ///< if it was admitted
  /// A full sample: the run that was verified. It is of the part if the candidate has a launch
  /// there.
  double first_us = 0.0;
  std::optional<Outcome>
      failure;  ///< if it was not: WrongResult, Implausible, Unlaunchable, Crashed, TimedOut
  std::optional<GpuReading> reading = {};  ///< the GPU's state at the sample `first_us`
};
FATUNE_DESCRIBED(Admission, (verification), (first_us), (failure, kElsewhere), (reading))

/// Samples that were taken one after another.
struct Samples {
  std::vector<double> samples_us;  ///< all that were asked for, or those before the failure
  std::vector<std::optional<GpuReading>> readings;  ///< one for each sample
  bool gate_in_use = false;                         ///< the device gate held during all of them
  bool deterministic = true;  ///< no right output of the candidate so far differed from another
                              ///< one of the same inputs
  /// The verification of the candidate's first run on the problem itself, if it was admitted on the
  /// part.
  std::optional<Verification> verification = {};
  /// WrongResult, Implausible, Crashed or TimedOut. The candidate is then retired.
  std::optional<Outcome> failure;
};

/// How to read hardware counters.
struct CountRequest {
  int runs = 1;
  /// The metrics to read in this process, through CUPTI: "gpu__time_duration.sum", ... Empty: a
  /// profiler that started the process reads the counters, and each run is in a separate profiler
  /// range (cuProfilerStart).
  std::vector<std::string> metrics;
};
FATUNE_MEMBERS(CountRequest, runs, metrics)

/// The values of the counters.
struct Counted {
  /// The values of each run by metric, in base units; see CountRequest. A metric without a value
  /// (0/0) is absent.
  std::vector<std::map<std::string, double>> runs;
  std::optional<Outcome> failure;  ///< Crashed or TimedOut; the candidate is then retired
};
FATUNE_DESCRIBED(Counted, (runs), (failure, kElsewhere))

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

  /// Prepares inputs and references, and retires all candidates of the previous problem. `kernels`
  /// must be compiled from measurement_request() for this problem. `part`: the part of the problem,
  /// for candidates that have a launch there. Throws Error(too_large), before anything is
  /// allocated, if the problem does not fit, and Error(gpu_failure) if the driver fails.
  virtual void begin_problem(const Problem& problem, const Artifact& kernels,
                             const std::optional<Problem>& part) = 0;
  void begin_problem(const Problem& problem, const Artifact& kernels) {
    begin_problem(problem, kernels, std::nullopt);
  }

  /// Loads and verifies a candidate; only a right one is admitted. `id` must not be in use. Runs
  /// the candidate on each kind of input on the probe problem, then once, as a sample, on the
  /// problem itself, or on its part if it has a launch there (verification.hpp). Precondition of
  /// this and the functions below: begin_problem() has returned, and not context_lost().
  [[nodiscard]] virtual Admission admit(CandidateId id, const CandidateKernel& kernel) = 0;
  /// Takes timed samples of an admitted candidate on normal inputs. Samples cycle through several
  /// sets of inputs, and the first one uses the set of the round (0, 1, ...), so that all samples
  /// of one round have the same inputs. Each sample is checked (watched_sampler.hpp). Precondition
  /// for the part: the candidate has a launch there.
  [[nodiscard]] virtual Samples sample(CandidateId id, const SampleRequest& request) = 0;
  /// Takes samples on the problem itself from the first round on.
  [[nodiscard]] Samples sample(CandidateId id, int count) {
    return sample(id, SampleRequest{.count = count});
  }
  /// Verifies an admitted candidate once more, on normal inputs. If an output is needed, it is that
  /// of the last sample if that was this candidate's, else that of another run
  /// (watched_sampler.hpp). Empty: it is right; otherwise the candidate is retired.
  [[nodiscard]] virtual std::optional<Outcome> recheck(CandidateId id) = 0;
  /// Runs an admitted candidate on normal inputs under the conditions of a sample (a chip that has
  /// been busy, a cold L2), and reads its counters. Throws Error(gpu_failure) if the counters
  /// cannot be read: no CUPTI, no permission, or a metric or device that CUPTI does not know.
  [[nodiscard]] virtual Counted count(CandidateId id, const CountRequest& request) = 0;
  /// Frees what an admitted candidate holds. Does nothing if it is not admitted.
  virtual void retire(CandidateId id) = 0;

  /// True once a candidate has killed the GPU context of this process (illegal address, launch
  /// failure ...). The candidate's outcome says so, and nothing more can be measured here.
  [[nodiscard]] virtual bool context_lost() const noexcept = 0;

 private:
  MeasurePolicy policy_;
};

}  // namespace fatune

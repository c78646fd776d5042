#pragma once

#include <array>
#include <functional>
#include <optional>
#include <set>
#include <utility>

#include "gpu/context.hpp"
#include "measure/loaded_kernel.hpp"
#include "measure/measurer.hpp"
#include "measure/plausibility.hpp"
#include "measure/timing.hpp"
#include "measure/verification.hpp"
#include "model/outcome.hpp"

namespace fatune {

/// The number of sets of normal inputs: kInputSets on the problem itself, and as many on its part.
inline constexpr int kNormalSets = 2 * kInputSets;
/// The set on which a round samples. Precondition: round >= 0.
[[nodiscard]] constexpr int set_of(Extent extent, int round) {
  return round % kInputSets + (extent == Extent::part ? kInputSets : 0);
}
[[nodiscard]] constexpr Extent extent_of(int set) {
  return set < kInputSets ? Extent::whole : Extent::part;
}

/// A candidate on normal inputs, and what its runs so far have shown.
struct SampledKernel {
  CandidateId id{};
  std::function<KernelLaunch(const Stage&, Extent)> make_launch;
  std::array<std::optional<KernelLaunch>, kNormalSets> launches{};  ///< made when they are needed
  /// Fingerprints of outputs that were found right, one for each set of inputs.
  std::array<std::optional<InputSum>, kNormalSets> right{};
  std::array<FirstSights, 2> sights{};  ///< first sights on the problem itself, and on its part
  int samples = 0;                      ///< does not count the sample at its admission
  bool deterministic = true;  ///< no right output differed from another one of the same inputs
  /// The verification of the first run on the problem itself, until it is taken away.
  std::optional<Verification> verification{};
  bool right_on_whole = false;
};

/// Takes samples that count only if their output is right. The output is poisoned before each run,
/// so that it is this run's. After each run its fingerprint (two sums of all its words, weighted by
/// their positions) is compared with that of an earlier run of the same candidate on the same
/// inputs whose output was checked against the references. An output that is new or differs is
/// itself checked at once. Each sample is therefore one that was checked, or equal to one that was.
/// All functions throw gpu::DriverError.
class WatchedSampler {
 public:
  /// `least`: the least times on the problem itself and on its part. All other arguments must
  /// outlive the sampler.
  WatchedSampler(const Verifier& verifier, SampleTimer& timer, std::array<LeastTime, 2> least,
                 const gpu::Stream& stream)
      : verifier_(verifier), timer_(timer), least_(std::move(least)), stream_(stream) {}

  /// Takes a sample on `set` into `sample`, and checks it: the one by which a candidate is
  /// admitted.
  [[nodiscard]] OutputVerdict first_sample(SampledKernel& kernel, int set, TimedRun& sample);
  /// Takes a sample on `set` into `sample`, or returns what is wrong with it: WrongResult or
  /// Implausible.
  [[nodiscard]] std::optional<Outcome> sample(SampledKernel& kernel, int set, TimedRun& sample);
  /// Looks for damage to guard bands and inputs since they were last checked. If the candidate is
  /// one of several that may have done some, or is not deterministic, checks the output of its last
  /// run, or of another run, completely. Returns WrongResult, or nothing.
  [[nodiscard]] std::optional<Outcome> recheck(SampledKernel& kernel);
  /// Notes that the candidate is about to run other than for a sample, on the first set of inputs.
  /// Returns that launch.
  const KernelLaunch& about_to_run(SampledKernel& kernel) { return about_to_run(kernel, 0); }
  /// Forgets the candidate, because the next one may have its id.
  void forget(CandidateId id);

  /// Whether others have run since the inputs of `set` were last checked. Damage that a check finds
  /// may then be theirs, and it takes another run to tell.
  [[nodiscard]] bool others_ran_unchecked(CandidateId id, int set) const;

 private:
  const KernelLaunch& about_to_run(SampledKernel& kernel, int set);
  [[nodiscard]] TimedRun run(SampledKernel& kernel, int set);
  void queue_fingerprint(const Stage& stage);
  [[nodiscard]] OutputVerdict check(int set);
  [[nodiscard]] std::optional<WrongResult> judge(SampledKernel& kernel, int set, bool& again);
  [[nodiscard]] std::optional<Outcome> judge_time(SampledKernel& kernel, int set, double sample_us);
  [[nodiscard]] std::optional<WrongResult> find_own_damage(const SampledKernel& kernel);
  [[nodiscard]] std::optional<Outcome> run_and_check(SampledKernel& kernel);
  [[nodiscard]] std::optional<Implausible> find_memory(SampledKernel& kernel, int set);

  const Verifier& verifier_;
  SampleTimer& timer_;
  std::array<LeastTime, 2> least_;
  const gpu::Stream& stream_;
  gpu::DeviceBuffer device_sum_{sizeof(InputSum)};
  gpu::PinnedBuffer host_sum_{sizeof(InputSum)};
  /// The last run: the candidate whose output the output tensor holds, and its set of inputs.
  std::optional<std::pair<CandidateId, int>> last_run_;
  std::array<std::set<CandidateId>, kNormalSets> unchecked_;  // ran since the set's last check
  std::set<CandidateId> suspects_;  // they may have done damage that was repaired, not traced
};

}  // namespace fatune

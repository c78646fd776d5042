#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "attention/input_kind.hpp"
#include "attention/problem.hpp"
#include "core/outcome.hpp"
#include "gpu/context.hpp"
#include "gpu/memory.hpp"
#include "measure/loaded_kernel.hpp"
#include "measure/measurement_module.hpp"
#include "measure/stage.hpp"

namespace fatune {

struct OutputVerdict {
  Verification verification;
  std::optional<std::string> finding;  ///< what is wrong, in one sentence; empty: it is right
  /// Whether guard bands or inputs had changed. They have been made anew, output included. Earlier
  /// runs that were not checked may have changed them.
  bool damaged = false;
};

/// Decides whether kernels compute attention, for one problem: on normal inputs for the problem
/// itself, on the other kinds for its probe problem. For each kind the whole output is scanned for
/// poison, NaN and infinity, guard bands and inputs are checked for writes, and the selected rows
/// are compared with an fp32 and a 16-bit reference (error_rule.hpp). All functions throw
/// gpu::DriverError.
///
/// There are kInputSets sets of normal inputs on the problem, each from a separate seed, and as
/// many on its part, if it has one.
///
/// For each stage call its poison_output(), run the kernel, then call check(). At most
/// kProbeKinds.size() stages are checked together.
class Verifier {
 public:
  /// The problem that inputs other than normal ones are on: the probe problem, or the cheaper
  /// small_problem().
  enum class Where { probe, small };

  /// Inputs and references are made from `seed`. `kernels` and `stream` must outlive the verifier.
  /// `count_rows`: each check also says which rows are wrong (Verification::rows).
  Verifier(const Problem& problem, const std::optional<Problem>& part, std::uint64_t seed,
           const MeasurementModule& kernels, const gpu::Stream& stream, bool count_rows);

  /// The stages of normal inputs: the sets on the problem itself, then those on its part.
  /// Precondition: set < set_count().
  [[nodiscard]] const Stage& normal(int set) const {
    return normal_.at(static_cast<std::size_t>(set));
  }
  [[nodiscard]] int set_count() const { return static_cast<int>(normal_.size()); }
  /// The stage of one of kProbeKinds, on the probe problem or on small_problem().
  [[nodiscard]] const Stage& probe(InputKind kind, Where where);

  /// Checks the current outputs. Waits for the device once. Damaged inputs and guard bands are made
  /// anew.
  [[nodiscard]] OutputVerdict check(const Stage& stage) const;
  [[nodiscard]] OutputVerdict check(std::span<const Stage* const> stages) const;

  /// Verification::method for a verification on this stage of normal inputs, with the other kinds
  /// of input on `others`.
  [[nodiscard]] std::string method(const Stage& normal, Where others) const;

 private:
  [[nodiscard]] const CheckCounts* fetch_counts() const;
  [[nodiscard]] Problem problem_of(Where where) const;
  void judge(const Stage& stage, const CheckCounts& counts, OutputVerdict& verdict) const;

  Problem problem_;
  std::uint64_t seed_;
  bool count_rows_;
  const MeasurementModule& kernels_;
  const gpu::Stream& stream_;
  std::vector<Stage> normal_;
  std::map<std::pair<InputKind, Where>, Stage> probes_;  // made on first use
  gpu::DeviceBuffer device_counts_;                      // CheckCounts of each stage of a check
  gpu::PinnedBuffer host_counts_;
};

/// Launches a candidate many times in a row, so that a kernel that stops computing after some
/// launches is found even if a race drops it after its first sample. Launches alternate between two
/// stages. Each launch finds a poisoned output and must leave the same output as the last launch on
/// its stage, which is verified. All functions throw gpu::DriverError.
class RepeatedLaunches {
 public:
  static constexpr int kLaunches = 16;

  struct Result {
    OutputVerdict verdict;      ///< the verdict on both stages
    bool deterministic = true;  ///< false: right outputs of the same inputs differed
  };
  using Stages = std::array<const Stage*, 2>;
  using MakeLaunch = std::function<KernelLaunch(const Stage&)>;

  /// `verifier` and `stream` must outlive this.
  RepeatedLaunches(const Verifier& verifier, const gpu::Stream& stream);

  /// Runs the launches and waits for the device. The stages must have inputs of different values.
  [[nodiscard]] Result run(const Stages& stages, const MakeLaunch& make_launch) const;

 private:
  void queue(const Stages& stages, const std::array<KernelLaunch, 2>& launches) const;
  [[nodiscard]] bool left_the_same() const;
  [[nodiscard]] OutputVerdict check_each(const Stages& stages, const MakeLaunch& make_launch) const;

  const Verifier& verifier_;
  const gpu::Stream& stream_;
  gpu::DeviceBuffer device_sums_;  // of each launch's output
  gpu::PinnedBuffer host_sums_;
};

}  // namespace fatune

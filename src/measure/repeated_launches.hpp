#pragma once

#include <array>
#include <functional>

#include "gpu/context.hpp"
#include "gpu/memory.hpp"
#include "measure/loaded_kernel.hpp"
#include "measure/stage.hpp"
#include "measure/verification.hpp"

namespace fatune {

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

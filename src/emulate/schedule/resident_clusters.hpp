#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <vector>

#include "emulate/execution.hpp"
#include "emulate/schedule/cluster_runner.hpp"

namespace fatune::emulate {

/// Runs a launch's clusters as a chip does: some of them in turns; as one ends, the next begins.
/// While they make progress, few run at a time. When all of them only poll, more begin, up to as
/// many as the setup has room for: one of those may do what they poll for.
class ResidentClusters {
 public:
  ResidentClusters(const Program& program, GlobalMemory& memory, const LaunchSetup& setup,
                   LaunchResult& result);

  /// False when a finding has ended the launch, or the setup's `stopped`.
  [[nodiscard]] bool run();

 private:
  struct Resident {
    Resident(const Program& program, GlobalMemory& memory, const LaunchSetup& setup,
             LaunchResult& result, LaunchState& launch, std::uint32_t cluster)
        : execution(program, memory, setup, result, launch, cluster), runner(execution) {}

    Execution execution;
    ClusterRunner runner;
    bool spins = false;  ///< its last turn was one in vain
  };

  [[nodiscard]] bool all_spin() const;
  [[nodiscard]] bool start_next();
  /// Begins the next cluster, where there is room and a reason, or chooses another resident.
  void change();
  [[nodiscard]] bool stays(const Resident& resident);
  [[nodiscard]] bool seems_dead();
  void report_all_wait();

  const Program& program_;
  GlobalMemory& memory_;
  const LaunchSetup& setup_;
  LaunchResult& result_;
  LaunchState state_;
  std::vector<std::unique_ptr<Resident>> residents_;
  std::size_t current_ = 0;
  std::uint64_t stay_ends_ = 0;  ///< of the current one: warp instructions
  std::uint32_t next_ = 0;       ///< cluster
  std::uint32_t clusters_;
  std::size_t room_;                ///< so many clusters are there at most
  std::uint64_t vain_turns_ = 0;    ///< of all, one after another
  std::uint64_t seen_changes_ = 0;  ///< of the launch, when the first of them was
  std::mt19937_64 random_;
};

}  // namespace fatune::emulate

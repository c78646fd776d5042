#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <vector>

#include "emulate/execution.hpp"
#include "emulate/schedule/cluster_runner.hpp"

namespace fatune::emulate {

/// Runs a launch's clusters as a chip does: some of them take turns, and as one ends, the next
/// begins. While they make progress, few run at a time. When all of them only poll, more begin, as
/// far as the setup has room: a new one may do what they poll for.
class ResidentClusters {
 public:
  ResidentClusters(const Program& program, GlobalMemory& memory, const LaunchSetup& setup,
                   LaunchResult& result);

  /// Returns false if a finding or the setup's `stopped` has ended the launch.
  [[nodiscard]] bool run();

 private:
  struct Resident {
    Resident(const Program& program, GlobalMemory& memory, const LaunchSetup& setup,
             LaunchResult& result, LaunchState& launch, std::uint32_t cluster)
        : execution(program, memory, setup, result, launch, cluster), runner(execution) {}

    Execution execution;
    ClusterRunner runner;
    bool spins = false;  ///< its last turn was in vain
  };

  [[nodiscard]] bool all_spin() const;
  [[nodiscard]] bool start_next();
  /// Begins the next cluster if there is room and a reason, or chooses another resident.
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
  std::uint64_t stay_ends_ = 0;  ///< the current cluster's turn, in warp instructions
  std::uint32_t next_ = 0;       ///< the next cluster to begin
  std::uint32_t clusters_;
  std::size_t room_;                ///< the most clusters that can be resident
  std::uint64_t vain_turns_ = 0;    ///< consecutive, over all clusters
  std::uint64_t seen_changes_ = 0;  ///< LaunchState::changes at the first of them
  std::mt19937_64 random_;
};

}  // namespace fatune::emulate

#include "emulator/launch.hpp"

#include <algorithm>
#include <memory>
#include <random>
#include <utility>

#include <fmt/format.h>

#include "base/ranges.hpp"
#include "emulator/execution.hpp"
#include "emulator/schedule/cluster_runner.hpp"

namespace fatune::emulate {
namespace {

struct KindText {
  const char* name;
  const char* check;
};
/// Indexed by FindingKind.
constexpr std::array kKinds{KindText{"out_of_bounds", "mem"},
                            KindText{"misaligned", "mem"},
                            KindText{"uninitialised", "init"},
                            KindText{"race", "race"},
                            KindText{"in_flight", "race"},
                            KindText{"missing_proxy_fence", "sync"},
                            KindText{"pending_registers", "sync"},
                            KindText{"missing_wgmma_fence", "sync"},
                            KindText{"divergent_product", "sync"},
                            KindText{"divergent_barrier", "sync"},
                            KindText{"barrier_misuse", "sync"},
                            KindText{"deadlock", "deadlock"},
                            KindText{"pending_at_exit", "sync"},
                            KindText{"inactive_lane", "sync"},
                            KindText{"trap", "trap"},
                            KindText{"assertion", "trap"}};
static_assert(kKinds.size() == static_cast<std::size_t>(FindingKind::assertion) + 1);

// The number of clusters that take turns while all make progress.
constexpr std::size_t kInTurns = 4;
// The warp instructions that a cluster runs before another one's turn. On random schedules, turns
// end by chance instead.
constexpr std::uint64_t kStay = std::uint64_t{1} << 15U;
constexpr std::uint64_t kChangesOneIn = 8;
// The turns in vain for each warp, with nothing happening in between, that count as a deadlock.
constexpr std::uint64_t kMostVainTurns = 512;

std::size_t room_of(const LaunchSetup& setup) {
  const std::uint32_t blocks = setup.cluster[0] * setup.cluster[1] * setup.cluster[2];
  return setup.resident_blocks == 0 ? cluster_count(setup)
                                    : std::max(1U, setup.resident_blocks / blocks);
}

/// Runs a launch's clusters as a chip does: some of them take turns, and as one ends, the next
/// begins. While they make progress, few run at a time. When all of them only poll, more begin, as
/// far as the setup has room: a new one may do what they poll for.
class ResidentClusters {
 public:
  explicit ResidentClusters(LaunchState launch)
      : state_(std::move(launch)),
        clusters_(cluster_count(setup_)),
        room_(room_of(setup_)),
        random_(setup_.schedule.seed) {
    state_.shadow.keep_ends(setup_.checks.both_ends);
  }

  /// Returns false if a finding or the setup's `stopped` has ended the launch.
  [[nodiscard]] bool run() {
    while (!residents_.empty() || start_next()) {
      Resident& resident = *residents_[current_];
      const ClusterRunner::Turn turn = resident.runner.take_turn();
      if (turn == ClusterRunner::Turn::failed) {
        return false;
      }
      if (turn == ClusterRunner::Turn::ended) {
        residents_.erase(residents_.begin() + static_cast<std::ptrdiff_t>(current_));
        change();
        continue;
      }
      resident.spins = turn == ClusterRunner::Turn::spun;
      if (resident.spins && seems_dead()) {
        report_all_wait();
        return false;
      }
      if (resident.spins || !stays(resident)) {
        change();
      }
    }
    return true;
  }

 private:
  struct Resident {
    Resident(LaunchState& launch, std::uint32_t cluster)
        : execution(launch, cluster), runner(execution) {}

    Execution execution;
    ClusterRunner runner;
    bool spins = false;  ///< its last turn was in vain
  };

  [[nodiscard]] bool all_spin() const {
    return std::ranges::all_of(residents_, [](const auto& resident) { return resident->spins; });
  }

  [[nodiscard]] bool start_next() {
    while (next_ < clusters_ && setup_.chosen && !setup_.chosen(block_at(setup_, next_))) {
      ++next_;
    }
    if (next_ == clusters_ || residents_.size() == room_) {
      return false;
    }
    residents_.push_back(std::make_unique<Resident>(state_, next_++));
    current_ = residents_.size() - 1;
    Execution& begun = residents_.back()->execution;
    if (residents_.size() * begun.thread_bytes() > setup_.limits.resident_bytes) {
      begun.end_at_limit("bytes in registers and local memory", setup_.limits.resident_bytes);
    }
    stay_ends_ = kStay;
    return true;
  }

  /// Begins the next cluster if there is room and a reason, or chooses another resident.
  void change() {
    const bool wants_more = residents_.size() < kInTurns || all_spin();
    if ((wants_more && start_next()) || residents_.empty()) {
      return;
    }
    const bool shuffled = setup_.schedule.timing == Timing::random;
    current_ = (shuffled ? random_() : current_ + 1) % residents_.size();
    stay_ends_ = residents_[current_]->runner.executed() + kStay;
  }

  [[nodiscard]] bool stays(const Resident& resident) {
    if (setup_.schedule.timing == Timing::random) {
      return random_() % kChangesOneIn != 0;
    }
    return resident.runner.executed() < stay_ends_;
  }

  /// Called after each turn in vain.
  [[nodiscard]] bool seems_dead() {
    const bool changed = std::exchange(seen_changes_, state_.changes) != state_.changes;
    vain_turns_ = changed ? 0 : vain_turns_ + 1;
    const std::size_t warps = residents_.size() * residents_.front()->execution.warps.size();
    return vain_turns_ > kMostVainTurns * warps && all_spin();
  }

  void report_all_wait() {
    std::vector<WaitingGroup> waiting;
    for (const auto& resident : residents_) {
      resident->runner.collect_waiting(waiting);
    }
    const std::uint32_t left = clusters_ - next_;
    report_deadlock(waiting,
                    left == 0 ? std::string()
                              : fmt::format("; {} more {} do not fit beside {}", left,
                                            setup_.cluster == std::array<std::uint32_t, 3>{1, 1, 1}
                                                ? "blocks"
                                                : "clusters",
                                            residents_.size()));
  }

  LaunchState state_;
  const LaunchSetup& setup_ = state_.setup;
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

}  // namespace

const char* name_of(FindingKind kind) { return kKinds.at(static_cast<std::size_t>(kind)).name; }
const char* check_of(FindingKind kind) { return kKinds.at(static_cast<std::size_t>(kind)).check; }

const char* name_of(AccessKind kind) {
  constexpr std::array kNames{"read", "write", "asynchronous read", "asynchronous write"};
  return kNames.at(static_cast<std::size_t>(kind));
}

bool has_two_ends(FindingKind kind) {
  return kind == FindingKind::race || kind == FindingKind::in_flight ||
         kind == FindingKind::missing_proxy_fence;
}

bool FindingLog::count_again(FindingKind kind, std::size_t instruction) {
  const auto found = std::ranges::find_if(findings_, [&](const Finding& finding) {
    return finding.kind == kind && finding.instruction == instruction;
  });
  if (found == findings_.end()) {
    return false;
  }
  ++found->count;
  return true;
}

void FindingLog::add(Finding finding) {
  if (!count_again(finding.kind, finding.instruction)) {
    findings_.push_back(std::move(finding));
  }
}

ModuleState loaded_state(const Program& program) {
  return mapped(program.variables, &ModuleVariable::bytes);
}

ModuleState state_in(const Program& program, const GlobalMemory& memory) {
  return mapped(program.variables,
                [&](const ModuleVariable& variable) { return memory.at(variable.address).bytes; });
}

void put_state(const Program& program, const ModuleState& state, GlobalMemory& memory) {
  for (std::size_t i = 0; i < program.variables.size(); ++i) {
    const ModuleVariable& variable = program.variables[i];
    memory.place({.name = variable.name, .address = variable.address, .bytes = state[i]});
  }
}

LaunchResult run_kernel(const Program& program, GlobalMemory& memory, const LaunchSetup& setup) {
  LaunchResult result;
  result.counts.resize(program.instructions.size());
  put_state(program, loaded_state(program), memory);
  result.finished = ResidentClusters({program, memory, setup, result}).run();
  return result;
}

}  // namespace fatune::emulate

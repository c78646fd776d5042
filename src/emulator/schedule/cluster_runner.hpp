#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "emulator/execution.hpp"

namespace fatune::emulate {

/// Lanes of a warp that wait or poll in vain.
struct WaitingGroup {
  Execution* x = nullptr;
  Warp* warp = nullptr;
  const Group* group = nullptr;
};

/// Reports a deadlock. The cause cannot be known, so each instruction where a group waits gets a
/// finding, which names all waits and then says `also`. Waits for bytes that no copy brings come
/// first, then those at barriers.
void report_deadlock(std::vector<WaitingGroup> waiting, std::string_view also);

/// Runs one cluster of blocks. Lanes of a warp that are at the same instruction run together. The
/// schedule decides whose turn it is.
class ClusterRunner {
 public:
  /// The result of a turn.
  enum class Turn : std::uint8_t {
    went_on,
    spun,   ///< all runnable groups poll in vain: for another cluster, or forever
    ended,  ///< all threads have ended
    failed  ///< ended by a trap, a deadlock, too many instructions, or the setup's `stopped`
  };

  explicit ClusterRunner(Execution& x) : x_(x) {}

  [[nodiscard]] Turn take_turn();
  /// The number of warp instructions executed so far.
  [[nodiscard]] std::uint64_t executed() const { return executed_; }
  /// Adds all groups of lanes. Precondition: all of them wait or spin.
  void collect_waiting(std::vector<WaitingGroup>& waiting) const;

 private:
  struct Choice {
    Warp* warp = nullptr;
    std::size_t group = 0;
  };

  /// Chooses a runnable group. The result is empty if none is left that does not spin.
  [[nodiscard]] Choice choose();
  /// Chooses a group, from warp `first` on, of those that lag or of the others.
  [[nodiscard]] Choice choose_from(std::size_t first, bool spinning_too, bool lagging = false);
  /// True if the schedule keeps this warp behind all others.
  [[nodiscard]] bool lags(const Warp& warp) const;
  [[nodiscard]] static std::size_t choose_group(const Warp& warp, bool spinning_too);
  [[nodiscard]] Turn run_chosen(const Choice& choice);
  /// True if every runnable group spins.
  [[nodiscard]] bool all_spin() const;
  /// The most instructions that a group may execute in a turn.
  [[nodiscard]] int longest_turn(const Warp& warp, const Group& group);
  void run_group(Warp& warp, std::size_t index);
  /// The next instruction of a group, and the lanes that its guard lets execute it.
  [[nodiscard]] Step step_of(Warp& warp, const Group& group) const {
    const Instruction& instruction = at(group);
    Step step{x_, warp, instruction, group.mask};
    if (instruction.guard >= 0) {
      const Mask guard = warp.predicates[static_cast<std::size_t>(instruction.guard)];
      step.mask &= instruction.guard_negated ? ~guard : guard;
    }
    return step;
  }
  /// Executes one instruction. Returns true if the group may continue at once. So do the functions
  /// for instructions that affect the control flow, which get the group's index.
  [[nodiscard]] bool execute(Warp& warp, std::size_t index);
  [[nodiscard]] bool branch(const Step& step, std::size_t index);
  [[nodiscard]] bool end_lanes(const Step& step, std::size_t index);
  [[nodiscard]] bool gathered(const Step& step, std::size_t index);
  [[nodiscard]] bool arrive(const Step& step, std::size_t index);
  /// True if the group need not wait, or has waited long enough.
  [[nodiscard]] bool polled(const Step& step, Group& group);
  void resume_pollers(Warp& warp);
  /// Lets an asynchronous operation happen. Returns false if none is left that may.
  [[nodiscard]] bool land_next();
  [[nodiscard]] bool give_up_polling();
  /// Lets lanes that a guard excludes from a collective instruction continue without it.
  static void split_inactive(const Step& step, std::size_t index);
  static void merge_groups(Warp& warp);
  void complete_barriers(Block& block);
  void release(Block& block, std::uint32_t barrier);

  [[nodiscard]] const Instruction& at(const Group& group) const {
    return x_.program.instructions[static_cast<std::size_t>(group.pc)];
  }

  Execution& x_;
  std::size_t turn_ = 0;
  std::size_t spinning_turn_ = 0;
  std::uint64_t executed_ = 0;
  std::uint64_t last_progress_ = 0;  ///< progress when polls last gave up
  int vain_polls_ = 0;
};

}  // namespace fatune::emulate

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "emulate/execution.hpp"

namespace fatune::emulate {

/// Runs one cluster of blocks to its end. Lanes of a warp that are at the same place run together;
/// whose turn it is the schedule says.
class ClusterRunner {
 public:
  explicit ClusterRunner(Execution& x) : x_(x) {}

  /// False when a finding has ended it: a trap, a deadlock, too many instructions; or the setup's
  /// `stopped`.
  bool run();

 private:
  struct Turn {
    Warp* warp = nullptr;
    std::size_t group = 0;
  };

  [[nodiscard]] Turn choose();
  [[nodiscard]] static std::size_t choose_group(const Warp& warp);
  void run_group(Warp& warp, std::size_t index);
  /// True when the group may go on at once.
  [[nodiscard]] bool step(Warp& warp, std::size_t index);
  [[nodiscard]] Mask active_lanes(const Warp& warp, const Group& group,
                                  const Instruction& instruction);

  [[nodiscard]] bool branch(Warp& warp, std::size_t index, const Instruction& instruction,
                            Mask active);
  [[nodiscard]] bool end_lanes(Warp& warp, std::size_t index, Mask active);
  [[nodiscard]] bool gathered(Warp& warp, std::size_t index, const Instruction& instruction,
                              Mask active);
  [[nodiscard]] bool arrive(Warp& warp, std::size_t index, const Instruction& instruction,
                            Mask active);
  /// True when the group need not wait, or has waited long enough.
  [[nodiscard]] bool polled(Warp& warp, std::size_t index, const Instruction& instruction,
                            Mask active);
  void resume_pollers(Warp& warp);
  /// What nobody but a copy can change has to change: false when nothing is left to happen.
  [[nodiscard]] bool go_on();
  [[nodiscard]] bool give_up_polling();
  [[nodiscard]] std::string awaited(const Warp& warp, const Group& group) const;
  /// Lanes that a guard keeps out of a collective instruction go on without it.
  void split_inactive(Warp& warp, std::size_t index, Mask active);
  static void merge_groups(Warp& warp);
  void complete_barriers(Block& block);
  void release(Block& block, std::uint32_t barrier);

  void report_deadlock();
  [[nodiscard]] std::string describe(const Warp& warp, const Group& group) const;
  [[nodiscard]] const Instruction& at(const Group& group) const {
    return x_.program.instructions[static_cast<std::size_t>(group.pc)];
  }

  Execution& x_;
  std::size_t turn_ = 0;
  std::uint64_t executed_ = 0;
  std::uint64_t last_progress_ = 0;  ///< when polling was last given up
  int vain_polls_ = 0;
};

}  // namespace fatune::emulate

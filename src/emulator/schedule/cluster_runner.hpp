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
  [[nodiscard]] Turn run_chosen(const Choice& choice);
  void run_group(Warp& warp, std::size_t index);
  /// Executes one instruction. Returns true if the group may continue at once.
  [[nodiscard]] bool execute(Warp& warp, std::size_t index);
  [[nodiscard]] bool give_up_polling();

  Execution& x_;
  std::size_t turn_ = 0;
  std::size_t spinning_turn_ = 0;
  std::uint64_t executed_ = 0;
  std::uint64_t last_progress_ = 0;  ///< progress when polls last gave up
  int vain_polls_ = 0;
};

}  // namespace fatune::emulate

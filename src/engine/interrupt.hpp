#pragma once

#include <array>
#include <csignal>

namespace fatune {

/// While it lives, the first signal that asks the process to end (SIGINT, SIGTERM, SIGHUP) is noted
/// instead; a second one ends it. Signals at almost the same time count as one: a terminal that is
/// closed and `timeout` send theirs twice. A SIGHUP that is ignored stays so (nohup).
class InterruptWatch {
 public:
  InterruptWatch();
  InterruptWatch(const InterruptWatch&) = delete;
  InterruptWatch& operator=(const InterruptWatch&) = delete;
  ~InterruptWatch();

  /// False when none lives.
  [[nodiscard]] static bool interrupted() noexcept;

 private:
  std::array<struct sigaction, 3> previous_{};
};

}  // namespace fatune

#pragma once

#include <array>
#include <csignal>
#include <thread>

namespace fatune {

/// While it lives, the first signal that asks the process to end (SIGINT, SIGTERM, SIGHUP) is noted
/// instead; a second one ends it. Signals at almost the same time count as one: a terminal that is
/// closed and `timeout` send theirs twice. A SIGHUP that is ignored stays so (nohup).
///
/// A thread waits for the signals, which this thread and those that it starts block: NVRTC puts
/// handlers of its own in place while it compiles, which would end the process. When it begins, it
/// ignores the signals for an instant, and one that comes just then is lost: the user asks again.
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
  sigset_t previous_mask_{};
  std::thread waiting_;
};

}  // namespace fatune

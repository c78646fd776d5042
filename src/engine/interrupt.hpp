#pragma once

#include <array>
#include <csignal>
#include <thread>

namespace fatune {

/// While an object lives, the first signal that asks the process to end (SIGINT, SIGTERM, SIGHUP)
/// is only noted; a second one ends the process. Signals at almost the same time count as one,
/// because a terminal that is closed and `timeout` send theirs twice. An ignored SIGHUP stays
/// ignored (nohup).
///
/// A thread waits for the signals, which this thread and the threads that it starts block. The
/// reason is that NVRTC installs its own handlers while it compiles, and they would end the
/// process. When NVRTC starts to compile, it ignores the signals for an instant. A signal at that
/// moment is lost, and the user has to repeat it.
class InterruptWatch {
 public:
  InterruptWatch();
  InterruptWatch(const InterruptWatch&) = delete;
  InterruptWatch& operator=(const InterruptWatch&) = delete;
  ~InterruptWatch();

  /// Whether a signal was noted. False while no object lives.
  [[nodiscard]] static bool interrupted() noexcept;

 private:
  std::array<struct sigaction, 3> previous_{};
  sigset_t previous_mask_{};
  std::thread waiting_;
};

}  // namespace fatune

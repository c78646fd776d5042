#pragma once

#include <csignal>

namespace fatune {

/// While it lives, the first SIGINT is noted instead of ending the process; a second one ends it.
class InterruptWatch {
 public:
  InterruptWatch();
  InterruptWatch(const InterruptWatch&) = delete;
  InterruptWatch& operator=(const InterruptWatch&) = delete;
  InterruptWatch(InterruptWatch&&) = delete;
  InterruptWatch& operator=(InterruptWatch&&) = delete;
  ~InterruptWatch();

  /// False when none lives.
  [[nodiscard]] static bool interrupted() noexcept;

 private:
  struct sigaction previous_ {};
};

}  // namespace fatune

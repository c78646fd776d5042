#include "engine/interrupt.hpp"

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <ctime>

namespace fatune {
namespace {

constexpr std::array<int, 3> kSignals{SIGINT, SIGTERM, SIGHUP};
constexpr std::int64_t kOneRequestMs = 200;

// Any thread may ask, and a handler may write it: lock-free.
std::atomic<bool> interrupt_seen = false;
std::atomic<std::int64_t> first_seen_ms = 0;
static_assert(std::atomic<std::int64_t>::is_always_lock_free);

/// Callable in a handler.
std::int64_t now_ms() {
  constexpr std::int64_t kMsPerS = 1000;
  constexpr std::int64_t kNsPerMs = 1000000;
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * kMsPerS + now.tv_nsec / kNsPerMs;
}

extern "C" void note_interrupt(int signal) {
  const int kept_errno = errno;
  if (!interrupt_seen) {
    first_seen_ms = now_ms();
    interrupt_seen = true;
  } else if (now_ms() - first_seen_ms > kOneRequestMs) {
    std::signal(signal, SIG_DFL);
    ::raise(signal);
  }
  errno = kept_errno;
}

}  // namespace

InterruptWatch::InterruptWatch() {
  interrupt_seen = false;
  struct sigaction action {};
  action.sa_handler = note_interrupt;
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    ::sigaction(kSignals[i], &action, &previous_[i]);
    if (kSignals[i] == SIGHUP && previous_[i].sa_handler == SIG_IGN) {
      ::sigaction(SIGHUP, &previous_[i], nullptr);
    }
  }
}

InterruptWatch::~InterruptWatch() {
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    ::sigaction(kSignals[i], &previous_[i], nullptr);
  }
  interrupt_seen = false;
}

bool InterruptWatch::interrupted() noexcept { return interrupt_seen; }

}  // namespace fatune

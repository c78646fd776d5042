#include "engine/interrupt.hpp"

#include <pthread.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <ctime>

namespace fatune {
namespace {

constexpr std::array<int, 3> kSignals{SIGINT, SIGTERM, SIGHUP};
constexpr int kStopWaiting = SIGUSR2;  // sent to the thread that waits, and to no other
constexpr std::int64_t kOneRequestMs = 200;

// Any thread may read these and a signal handler may write them, so they are lock-free.
std::atomic<bool> interrupt_seen = false;
std::atomic<std::int64_t> first_seen_ms = 0;
std::atomic<bool> watch_ends = false;
static_assert(std::atomic<std::int64_t>::is_always_lock_free);

/// Callable in a handler.
std::int64_t now_ms() {
  constexpr std::int64_t kMsPerS = 1000;
  constexpr std::int64_t kNsPerMs = 1000000;
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * kMsPerS + now.tv_nsec / kNsPerMs;
}

/// Ends the process by the signal's default action, even in a thread that blocks it. Callable in a
/// signal handler.
void end_by(int signal) {
  sigset_t one;
  ::sigemptyset(&one);
  ::sigaddset(&one, signal);
  std::signal(signal, SIG_DFL);
  ::raise(signal);
  ::pthread_sigmask(SIG_UNBLOCK, &one, nullptr);
}

/// The signal handler, for threads that existed before the watch. The waiting thread calls it too.
extern "C" void note_interrupt(int signal) {
  const int kept_errno = errno;
  if (!interrupt_seen) {
    first_seen_ms = now_ms();
    interrupt_seen = true;
  } else if (now_ms() - first_seen_ms > kOneRequestMs) {
    end_by(signal);
  }
  errno = kept_errno;
}

void wait_for_signals(const sigset_t& signals) {
  int signal = 0;
  while (!watch_ends && ::sigwait(&signals, &signal) == 0) {
    if (signal != kStopWaiting) {
      note_interrupt(signal);
    } else if (!watch_ends) {
      end_by(signal);  // not sent by the destructor
    }
  }
}

}  // namespace

InterruptWatch::InterruptWatch() {
  interrupt_seen = false;
  watch_ends = false;
  struct sigaction action {};
  action.sa_handler = note_interrupt;
  sigset_t waited;
  ::sigemptyset(&waited);
  ::sigaddset(&waited, kStopWaiting);
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    ::sigaction(kSignals[i], &action, &previous_[i]);
    if (kSignals[i] == SIGHUP && previous_[i].sa_handler == SIG_IGN) {
      ::sigaction(SIGHUP, &previous_[i], nullptr);
    } else {
      ::sigaddset(&waited, kSignals[i]);
    }
  }
  ::pthread_sigmask(SIG_BLOCK, &waited, &previous_mask_);
  waiting_ = std::thread([waited] { wait_for_signals(waited); });
}

InterruptWatch::~InterruptWatch() {
  watch_ends = true;
  ::pthread_kill(waiting_.native_handle(), kStopWaiting);
  waiting_.join();
  ::pthread_sigmask(SIG_SETMASK, &previous_mask_, nullptr);
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    ::sigaction(kSignals[i], &previous_[i], nullptr);
  }
  interrupt_seen = false;
}

bool InterruptWatch::interrupted() noexcept { return interrupt_seen; }

}  // namespace fatune

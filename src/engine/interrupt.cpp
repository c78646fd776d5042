#include "engine/interrupt.hpp"

#include <atomic>

namespace fatune {
namespace {

// Any thread may ask, and a handler may write it: lock-free.
std::atomic<bool> interrupt_seen = false;
static_assert(std::atomic<bool>::is_always_lock_free);

extern "C" void note_interrupt(int) { interrupt_seen = true; }

}  // namespace

InterruptWatch::InterruptWatch() {
  interrupt_seen = false;
  struct sigaction action {};
  action.sa_handler = note_interrupt;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  ::sigaction(SIGINT, &action, &previous_);
}

InterruptWatch::~InterruptWatch() {
  ::sigaction(SIGINT, &previous_, nullptr);
  interrupt_seen = false;
}

bool InterruptWatch::interrupted() noexcept { return interrupt_seen; }

}  // namespace fatune

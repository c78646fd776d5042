#include "app/interrupt.hpp"

namespace fatune {
namespace {

volatile std::sig_atomic_t interrupt_seen = 0;

extern "C" void note_interrupt(int) { interrupt_seen = 1; }

}  // namespace

InterruptWatch::InterruptWatch() {
  interrupt_seen = 0;
  struct sigaction action {};
  action.sa_handler = note_interrupt;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  ::sigaction(SIGINT, &action, &previous_);
}

InterruptWatch::~InterruptWatch() { ::sigaction(SIGINT, &previous_, nullptr); }

bool InterruptWatch::interrupted() noexcept { return interrupt_seen != 0; }

}  // namespace fatune

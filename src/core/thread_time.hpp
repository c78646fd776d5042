#pragma once

#include <ctime>

namespace fatune {

/// The CPU time of this thread so far, in seconds.
[[nodiscard]] inline double thread_cpu_s() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

}  // namespace fatune

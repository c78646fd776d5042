#pragma once

namespace fatune {

/// Every way the process can end; kExitCodeTexts says what each means. The numbers are part of the
/// command line's contract; never renumber.
enum class ExitCode : int {
  ok = 0,
  internal = 1,
  usage = 2,
  bad_file = 3,
  no_gpu = 4,
  nothing_ranked = 5,
  failed_outcomes = 6,
  io = 7,
  too_large = 8,
  gpu_failure = 9,
  gpu_busy = 10,
  beaten = 11,
  worse = 12,
  undecided = 13,
  incomplete = 14,
  interrupted = 130,
};

}  // namespace fatune

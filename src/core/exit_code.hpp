#pragma once

namespace fatune {

/// Every way the process can end. The numbers are part of the command line's contract
/// (docs/reference.md); never renumber.
enum class ExitCode : int {
  ok = 0,
  internal = 1,  ///< a bug in fatune: an unexpected exception
  usage = 2,     ///< command line, configuration string or space key that cannot be understood
  bad_file = 3,  ///< a file that cannot be read, parsed, or that violates its schema
  no_gpu = 4,    ///< a GPU is required and none is usable
  nothing_ranked = 5,   ///< the command ran, but no configuration survived
  failed_outcomes = 6,  ///< a configuration was wrong, crashed or did not compile
  io = 7,               ///< an output file, or standard output, cannot be written
  too_large = 8,        ///< a problem does not fit the GPU (refused before anything is allocated)
  gpu_failure = 9,      ///< the driver failed in a way that ends the command
  gpu_busy = 10,        ///< --no-wait: another fatune measures on the GPU
  beaten = 11,          ///< verify-winner: a configuration is faster than the winner beyond doubt
  worse = 12,           ///< sweep --against: something is slower beyond doubt, or wrong
  undecided = 13,       ///< verify-winner: what was measured does not tell whether a winner stands
  interrupted = 130,    ///< SIGINT, SIGTERM or SIGHUP; what was finished has been written
};

}  // namespace fatune

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "attention/problem.hpp"

namespace fatune {

enum class WinnerVerdict {
  confirmed,  ///< it is behind the fastest by no more than the tolerance
  beaten,     ///< something is faster beyond doubt and beyond the tolerance
  failed,     ///< it has no time here: it does not compile, crashes, is wrong ...
  undecided,  ///< the measurement does not decide
};

/// Why a verdict is undecided.
enum class WinnerDoubt {
  none,           ///< it is decided
  stopped,        ///< the run ended before every configuration had a time
  tied_behind,    ///< it looks slower by more than the tolerance, but that may be chance
  wide_interval,  ///< the comparison is less precise than the tolerance
};

/// The result of measuring a winner again.
struct WinnerCheck {
  Problem problem;
  std::string winner;  ///< short form
  WinnerVerdict verdict = WinnerVerdict::undecided;
  WinnerDoubt doubt = WinnerDoubt::stopped;
  std::optional<double> winner_us;
  std::string fastest;  ///< short form; empty: nothing has a time
  std::optional<double> fastest_us;
  std::optional<double> file_us;  ///< its median in the file; absent: the file has an estimate
  std::string failure;            ///< why it has no time; else empty
};

/// The origin of times.
struct WinnerOrigin {
  std::string device;         ///< name of the GPU model
  std::string driver{};       ///< its release: "580.159.04"; empty: not known
  std::string driver_cuda{};  ///< its CUDA version: "13.0"
};

struct WinnerReport {
  WinnerOrigin file;  ///< the origin of the winners that were measured again
  WinnerOrigin here;
  bool file_measured = true;  ///< false: the file's times are estimates
  bool complete = true;
  std::vector<WinnerCheck> checks;
};

}  // namespace fatune

#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "process/spawn.hpp"

namespace fatune {

/// Limits for a program that is run for its output.
struct RunLimits {
  std::size_t output_bytes = std::size_t{256} << 20;  ///< limit of standard output
  std::chrono::milliseconds timeout{120'000};
};

/// The output of a program that ended with status 0.
struct ProgramOutput {
  std::string out;
  std::string err;  ///< its last lines
};

/// Runs a program (a path) with these arguments, without a shell and without input, and waits for
/// its end. Error(bad_file), with what it wrote to standard error, if it cannot be started, ends
/// with another status, writes more, or takes longer than the limits (then it is killed).
[[nodiscard]] ProgramOutput run_program(const std::string& program,
                                        const std::vector<std::string>& arguments,
                                        const RunLimits& limits = {},
                                        const Surroundings& surroundings = {});

}  // namespace fatune

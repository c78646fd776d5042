#pragma once

#include <sys/types.h>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/descriptor.hpp"

namespace fatune {

// Starts programs, without a shell. A refusal by the system is a std::system_error.

/// A connection to a program to be started.
struct Ends {
  Descriptor ours;
  Descriptor theirs;  ///< closed in every program but the one that it is wired to
};

/// `ours` reads what the program writes to `theirs`.
[[nodiscard]] Ends open_pipe();
/// Both ends can read and write.
[[nodiscard]] Ends open_socket();

/// A descriptor of ours, and its number in the program (0 to 9).
struct Wire {
  int from = -1;
  int to = -1;
};

/// The folder and the environment in which a program runs.
struct Surroundings {
  std::filesystem::path folder{};        ///< empty: that of this process
  std::vector<std::string> variables{};  ///< "NAME=value": replace those of this process
};

/// Starts `program` (a path) with `arguments`, the first of which is its own name. It gets the
/// wires, standard input from /dev/null, and a process group of its own, so that the terminal's
/// Ctrl-C does not reach it. A relative path of the program counts from the folder where it runs.
[[nodiscard]] pid_t spawn_program(const std::string& program, std::vector<std::string> arguments,
                                  const std::vector<Wire>& wires,
                                  const Surroundings& surroundings = {});

/// Returns its status if it ends within `timeout`.
[[nodiscard]] std::optional<int> wait_for(pid_t pid, std::chrono::milliseconds timeout);

/// Describes a status: "signal 11 (Segmentation fault)", "exit status 3".
[[nodiscard]] std::string describe_status(int status);

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

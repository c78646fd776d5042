#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "process/descriptor.hpp"

// Starting programs, without a shell. A refusal by the system is a std::system_error.
namespace fatune {

/// A connection to a program that is to be started.
struct Ends {
  Descriptor ours;
  Descriptor theirs;  ///< closed in every program but the one that it is wired to
};

/// `ours` reads what the program writes to `theirs`.
[[nodiscard]] Ends open_pipe();
/// Both ways.
[[nodiscard]] Ends open_socket();

/// A descriptor of ours, and the number under which the program finds it (0 to 9).
struct Wire {
  int from = -1;
  int to = -1;
};

/// The folder and the environment in which a program runs.
struct Surroundings {
  std::filesystem::path folder{};        ///< empty: where this process is
  std::vector<std::string> variables{};  ///< "NAME=value": in place of this environment's own
};

/// Starts `program` (a path) with `arguments`, of which the first is its own name. It has the wires
/// given, standard input from /dev/null, and is in a process group of its own, so that the
/// terminal's Ctrl-C does not reach it. A relative path of the program counts from where it runs.
[[nodiscard]] pid_t spawn_program(const std::string& program, std::vector<std::string> arguments,
                                  const std::vector<Wire>& wires,
                                  const Surroundings& surroundings = {});

/// Its status, when it ends within `timeout`.
[[nodiscard]] std::optional<int> wait_for(pid_t pid, std::chrono::milliseconds timeout);

/// "signal 11 (Segmentation fault)", "exit status 3".
[[nodiscard]] std::string describe_status(int status);

}  // namespace fatune

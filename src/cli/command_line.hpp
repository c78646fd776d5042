#pragma once

#include <functional>

#include "base/error.hpp"

namespace fatune {

/// The work that the command line asks for, ready to run.
using Command = std::function<ExitCode()>;

struct Subcommands;

/// Adds the program's commands to the parser.
using AddCommands = void (*)(const Subcommands& all);

/// Parses the command line, the environment (KERNELS, NO_COLOR, TERM, ...) and fatune.toml. --help
/// and --version become commands that print. Throws Error(usage) for anything that cannot be
/// parsed.
[[nodiscard]] Command parse_command_line(int argc, const char* const* argv,
                                         AddCommands add_commands);

}  // namespace fatune

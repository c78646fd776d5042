#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "app/option_groups.hpp"

namespace fatune {

/// The options that the program and each of its commands have.
struct GlobalOptions {
  std::optional<bool> colour{};  ///< absent: the terminal decides
  std::string command_line{};    ///< what records keep: the words typed, and the file's options
  std::filesystem::path config_file;  ///< the file that was read; empty: none
};

/// Adds --color and --config-file. Call it after a command's own options were added.
void add_global_options(CLI::App& app, GlobalOptions& options);

/// Applies the global options to `output`.
void settle(const GlobalOptions& global, OutputOptions& output);

/// Returns a note that names the config file, for verbose output. Empty: none was read.
[[nodiscard]] std::string config_file_note(const GlobalOptions& global);

/// Returns the capabilities of the standard streams. Colour is on for a terminal that is not
/// "dumb", unless NO_COLOR (any non-empty value), CLICOLOR_FORCE or CLICOLOR say otherwise. The
/// progress line is live if standard error is such a terminal. The width of standard output is what
/// its terminal reports, else COLUMNS.
[[nodiscard]] OutputOptions terminal_defaults();

/// Returns "fatune" and the words, quoted for a shell.
[[nodiscard]] std::string quoted_command_line(const std::vector<std::string>& words);

}  // namespace fatune

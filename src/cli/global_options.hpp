#pragma once

#include <filesystem>
#include <optional>
#include <string>

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

}  // namespace fatune

#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>

#include "app/option_groups.hpp"

namespace fatune {

/// The options that the program and each of its commands have.
struct GlobalOptions {
  std::optional<bool> colour{};       ///< absent: as the terminal has it
  std::string command_line{};         ///< for the records: as typed, with what a file adds
  std::filesystem::path config_file;  ///< the file that was read; empty: none
};

/// --color --config-file. To be added behind a command's own options.
void add_global_options(CLI::App& app, GlobalOptions& options);

/// Sets what they say.
void settle(const GlobalOptions& global, OutputOptions& output);

/// What was read, for those who want to know more.
[[nodiscard]] std::string config_file_note(const GlobalOptions& global);

}  // namespace fatune

#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "core/error.hpp"

// Defaults of options, from a project's file (docs/reference.md).
namespace fatune {

inline constexpr const char* kConfigFileOption = "--config-file";

/// A command line with what a file adds to it.
struct ConfiguredWords {
  std::vector<std::string> words;  ///< as typed, with the file's options behind the command
  std::filesystem::path file;      ///< empty: none was read, or it adds nothing
  std::map<std::string, std::string> places;  ///< of the options added: "--seq", "fatune.toml:3"
};

/// fatune.toml in `folder`, or in the nearest folder above it up to `home`, else up to the root.
[[nodiscard]] std::optional<std::filesystem::path> find_config_file(
    const std::filesystem::path& folder, const std::filesystem::path& home);

/// Adds what the file says of the command that `words` choose, but for options that they give, or
/// that exclude one that they give. The file: --config-file, else the variable FATUNE_CONFIG_FILE,
/// else find_config_file(); "none" is no file. Error(bad_file) with file and line for what is no
/// TOML, and for commands, options and kinds of values that `program` does not have.
[[nodiscard]] ConfiguredWords add_config_file(const CLI::App& program,
                                              std::vector<std::string> words);

/// The error with the file's place in front of an option that the file added.
[[nodiscard]] Error at_its_place(const Error& error, const ConfiguredWords& configured);

}  // namespace fatune

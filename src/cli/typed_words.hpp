#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace fatune {

/// What a command line's words choose, before they are parsed.
struct TypedWords {
  std::vector<const CLI::App*> commands;  ///< the program, its command, the command's own
  std::size_t behind_command = 0;         ///< the number of words up to the last command
  std::set<const CLI::Option*> options;   ///< the options given, of any of the commands
};

[[nodiscard]] TypedWords read_typed_words(const CLI::App& program,
                                          const std::vector<std::string>& words);

/// The command's subcommand of that name, the hidden ones too; nullptr: there is none.
[[nodiscard]] const CLI::App* find_command(const CLI::App& app, const std::string& name);

/// The command's option of that long name; nullptr: it has none.
[[nodiscard]] const CLI::Option* find_option(const CLI::App& app, const std::string& name);

/// The text that is given for an option: "--name=text" or "--name text"; nothing without one.
[[nodiscard]] std::optional<std::string> typed_value(const std::vector<std::string>& words,
                                                     const std::string& option);

}  // namespace fatune

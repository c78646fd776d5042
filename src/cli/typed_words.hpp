#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

namespace fatune {

/// The commands and options that a command line selects, before it is parsed.
struct TypedWords {
  std::vector<const CLI::App*> commands;  ///< the program, its command, that command's own
  std::size_t behind_command = 0;         ///< the number of words up to the last command
  std::set<const CLI::Option*> options;   ///< the given options, of any of the commands
};

[[nodiscard]] TypedWords read_typed_words(const CLI::App& program,
                                          const std::vector<std::string>& words);

/// Returns the command's subcommand of that name, which may be hidden. nullptr: there is none.
[[nodiscard]] const CLI::App* find_command(const CLI::App& app, const std::string& name);

/// Returns the command's option of that long name. nullptr: there is none.
[[nodiscard]] const CLI::Option* find_option(const CLI::App& app, const std::string& name);

/// Returns the text given for an option, as "--name=text" or "--name text". Nothing: none is given.
[[nodiscard]] std::optional<std::string> typed_value(const std::vector<std::string>& words,
                                                     const std::string& option);

/// Returns the word closest to `typed`. Empty: none is close.
[[nodiscard]] std::string closest_word(std::string_view typed,
                                       const std::vector<std::string>& words);

}  // namespace fatune

#pragma once

#include <filesystem>
#include <map>
#include <optional>

#include <CLI/CLI.hpp>

#include "base/error.hpp"
#include "cli/command_page.hpp"

// What the parser accepts, as plain data, and what a command line gives of it.
namespace fatune {

/// Returns all that the parser accepts and the help shows. `app`: the program or one of its
/// commands.
[[nodiscard]] CommandPage read_pages(const CLI::App& app);

/// Parses an option's type in the help. "race|exhaustive" has two literal words. "FILE|-" has a
/// kind of value, in capitals, and a literal word. ",..." at the end means several values, joined
/// by commas. Throws std::logic_error for a kind that is not in the table in read_pages.cpp.
[[nodiscard]] ValueWords value_words(std::string type);

/// The names of the subcommands that the help shows.
[[nodiscard]] std::vector<std::string> visible_commands(const CLI::App& app);
/// Returns the command's subcommand of that name, which may be hidden. nullptr: there is none.
[[nodiscard]] const CLI::App* find_command(const CLI::App& app, const std::string& name);

/// Returns the text given for an option, as "--name=text" or "--name text". Nothing: none is given.
[[nodiscard]] std::optional<std::string> typed_value(const std::vector<std::string>& words,
                                                     const std::string& option);

/// Returns the word closest to `typed`. Empty: none is close.
[[nodiscard]] std::string closest_word(std::string_view typed,
                                       const std::vector<std::string>& words);

// Defaults of options, from a project's file (docs/reference.md).

inline constexpr const char* kConfigFileOption = "--config-file";

/// A command line with the options that a file adds.
struct ConfiguredWords {
  std::vector<std::string> words;  ///< what was typed, with the file's options after the command
  std::filesystem::path file;      ///< empty: none was read
  std::map<std::string, std::string> places;  ///< where each option stands: "fatune.toml:3"
};

/// Adds the file's settings for the command that `words` select, except for options that `words`
/// give and options that exclude one of these. --config-file names the file, else the variable
/// FATUNE_CONFIG_FILE does, else find_config_file() finds it. The name "none" means no file. Throws
/// Error(bad_file) for a file that was found, not named, and that another user owns or may change;
/// with file and line for invalid TOML, and for commands, options and kinds of values that
/// `program` does not have.
[[nodiscard]] ConfiguredWords add_config_file(const CLI::App& program,
                                              std::vector<std::string> words);

/// Returns the error, with the option's place in front if it is about an option that the file
/// added.
[[nodiscard]] Error at_its_place(const Error& error, const ConfiguredWords& configured);

}  // namespace fatune

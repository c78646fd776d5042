#pragma once

#include <string>
#include <vector>

// The command line as plain data, from which completions and manual pages are made.
namespace fatune {

/// The words that may stand for a value.
struct ValueWords {
  std::vector<std::string> words{};
  bool files = false;    ///< names of files too
  bool folders = false;  ///< names of folders too
  bool several = false;  ///< several words, joined by commas

  bool operator==(const ValueWords&) const = default;
};

struct OptionPage {
  std::vector<std::string> names{};  ///< names that can be typed: "-q", "--quiet"; at least one
  std::string value{};  ///< kind of its value: "LIST", "race|exhaustive"; empty: a flag
  bool value_may_be_absent = false;
  std::string doc{};
  ValueWords completes{};
  bool repeatable = false;
  bool required = false;
  std::vector<std::string> needs{};     ///< names that must be given with it, sorted
  std::vector<std::string> excludes{};  ///< names that must not be given with it, sorted
  std::string group{};                  ///< a title of kOptionGroups
};

/// A word that is identified by its position.
struct ArgumentPage {
  std::string name{};   ///< "RUN"
  std::string value{};  ///< "N|last"
  std::string doc{};
  ValueWords completes{};
  bool required = false;
  bool repeatable = false;
};

struct CommandPage {
  std::vector<std::string> words{};  ///< "fatune", "sass", "map"
  std::string summary{};
  std::string footer{};  ///< ends the help: further explanation, then examples below "Examples:"
  std::vector<OptionPage> options{};
  std::vector<std::string> common{};  ///< names of the options that most people need, in that order
  std::vector<ArgumentPage> arguments{};
  std::vector<CommandPage> commands{};  ///< subcommands
};

}  // namespace fatune

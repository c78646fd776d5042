#pragma once

#include <string>
#include <vector>

// What the command line offers, as plain data: completions and manual pages are made of it.
namespace fatune {

/// What may stand for a value.
struct ValueWords {
  std::vector<std::string> words{};
  bool files = false;    ///< names of files too
  bool folders = false;  ///< names of folders too
  bool several = false;  ///< several words, joined by commas

  bool operator==(const ValueWords&) const = default;
};

struct OptionPage {
  std::vector<std::string> names{};  ///< as typed: "-q", "--quiet"; at least one
  std::string value{};  ///< what its value is: "LIST", "race|exhaustive"; empty: a flag
  bool value_may_be_absent = false;
  std::string doc{};
  ValueWords completes{};
  bool repeatable = false;
  std::vector<std::string> excludes{};  ///< names that must not be given beside it, sorted
};

/// A word that is told by its position.
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
  std::string footer{};  ///< of the help: what else there is to say, and below "Examples:" examples
  std::vector<OptionPage> options{};
  std::vector<ArgumentPage> arguments{};
  std::vector<CommandPage> commands{};  ///< its own
};

}  // namespace fatune

#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
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

/// The page and the pages of all commands below it, in the order of the help.
[[nodiscard]] std::vector<const CommandPage*> all_pages(const CommandPage& page);

/// The command's words: "fatune sass map". `separator` replaces the blanks.
[[nodiscard]] std::string command_text(const CommandPage& page, const std::string& separator = " ");

/// The command line in short: "fatune sass diff [OPTIONS] A B". `literal` and `placeholder` mark up
/// what is typed as it is, and what stands for something else.
using Markup = std::function<std::string(std::string_view)>;
[[nodiscard]] std::string synopsis(const CommandPage& page, const Markup& literal,
                                   const Markup& placeholder);

/// An option's names and the kind of its value: "-o, --out FILE".
[[nodiscard]] std::string option_term(const OptionPage& option, const Markup& literal,
                                      const Markup& placeholder);

/// What an option does, whether it is required, and which options it needs and excludes.
[[nodiscard]] std::string option_text(const OptionPage& option);

/// The two parts of a footer.
struct FooterParts {
  std::string_view explanation;
  std::string_view examples;  ///< the lines below "Examples:"
};
[[nodiscard]] FooterParts footer_parts(const CommandPage& page);

namespace option_group {
inline constexpr const char* kProblem = "Problem";
inline constexpr const char* kKernels = "Kernels";
inline constexpr const char* kDevice = "Device";
inline constexpr const char* kMeasuring = "Measuring";
inline constexpr const char* kSearch = "Search";
inline constexpr const char* kStore = "Store";
inline constexpr const char* kOutput = "Output";
inline constexpr const char* kFleets = "Fleets";
inline constexpr const char* kGeneral = "General";
}  // namespace option_group

/// The titles of the groups of options, in the order in which help texts and manual pages have
/// them.
inline constexpr std::array<std::string_view, 9> kOptionGroups{
    option_group::kProblem,   option_group::kKernels, option_group::kDevice,
    option_group::kMeasuring, option_group::kSearch,  option_group::kStore,
    option_group::kOutput,    option_group::kFleets,  option_group::kGeneral};

struct GroupOfOptions {
  std::string_view title;
  std::vector<const OptionPage*> options;
};

/// Whether a command has so many options that its texts show them in groups.
[[nodiscard]] bool is_grouped(const CommandPage& page);

/// The groups that have options. If the command has few options, one group without a title has all.
/// Throws std::logic_error for an option of a group that is not in kOptionGroups.
[[nodiscard]] std::vector<GroupOfOptions> grouped_options(const CommandPage& page);

/// How much of a command with many options its help describes.
enum class HelpExtent {
  common,  ///< its common options; the others are only named
  all,
};

/// The help of a command, wrapped to `columns` (at least 20) columns. Examples, and what is typed,
/// stay as they are.
[[nodiscard]] std::string help_text(const CommandPage& page, HelpExtent extent,
                                    std::size_t columns);

/// What may complete the last of the words that were typed after the program's name, which may be
/// empty. Line 1: the beginning of that word that is not completed ("--format=", "fp16,"). Line 2:
/// which of "files", "folders" and "list" apply; words of a list are joined by commas. Each further
/// line: a word, then, if it has a description, a tab and the description.
[[nodiscard]] std::string completions(const CommandPage& program,
                                      std::span<const std::string> typed);

/// What pages have besides their commands.
struct ManualEdition {
  std::string version;  ///< "0.1.0"
  std::string date;     ///< "2026-11-23": of the version, not of the build, for reproducible pages
  std::string reference;  ///< the text of docs/reference.md: its tables are in each page
};

/// A command's manual page of section 1, in man(7). `program`: the topmost page.
[[nodiscard]] std::string manual_page(const CommandPage& page, const CommandPage& program,
                                      const ManualEdition& edition);

}  // namespace fatune

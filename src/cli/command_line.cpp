#include "cli/command_line.hpp"

#include <unistd.h>

#include <fmt/format.h>

#include "base/environment.hpp"
#include "base/text_parts.hpp"
#include "cli/command_page.hpp"
#include "cli/option_groups.hpp"
#include "cli/subcommands.hpp"
#include "cli/typed_words.hpp"
#include "engine/version_report.hpp"

namespace fatune {
namespace {

void add_color_option(CLI::App& app, GlobalOptions& options) {
  const OptionScope scope(app, option_group::kOutput);
  add_text_option(
      app, "--color", "auto|always|never", "colours in tables (default: auto, on a terminal)",
      [&options](const std::string& text) {
        options.colour = text == "auto" ? std::nullopt : std::optional(text == "always");
      })
      ->check(CLI::IsMember({"auto", "always", "never"}).description(""));
}

bool is_capable_terminal(int descriptor) {
  return ::isatty(descriptor) == 1 && environment_variable("TERM").value_or("") != "dumb";
}

/// NO_COLOR (https://no-color.org) decides first, then CLICOLOR_FORCE and CLICOLOR
/// (https://bixense.com/clicolors), then the terminal.
bool wants_colour(bool is_terminal) {
  if (environment_variable("NO_COLOR")) {
    return false;
  }
  return environment_variable("CLICOLOR_FORCE").value_or("0") != "0" ||
         (is_terminal && environment_variable("CLICOLOR").value_or("1") != "0");
}

/// Parses a number of columns. 0: the text is not one.
std::size_t number_of_columns(const std::string& text) {
  constexpr std::size_t kMost = 10000;
  const std::size_t columns = whole_number<std::size_t>(text).value_or(0);
  return columns <= kMost ? columns : 0;
}

Command print_command(std::string text) {
  return [text = std::move(text)] {
    print_result(text);
    return ExitCode::ok;
  };
}

/// Adds --color and --config-file. Call it after a command's own options were added.
void add_global_options(CLI::App& app, GlobalOptions& options) {
  add_color_option(app, options);
  const OptionScope scope(app, option_group::kGeneral);
  app.get_option("--help")->group(option_group::kGeneral);
  app.get_option("--help-all")->group(option_group::kGeneral);
  app.add_option(kConfigFileOption,
                 "defaults of options (default: fatune.toml here or in a folder above)")
      ->type_name("FILE|none");
}

void add_global_options_everywhere(CLI::App& app, GlobalOptions& global) {
  add_global_options(app, global);
  for (CLI::App* command :
       app.get_subcommands([](const CLI::App* sub) { return !sub->get_group().empty(); })) {
    add_global_options_everywhere(*command, global);
  }
}

void add_subcommands(CLI::App& app, const OutputOptions& output, GlobalOptions& global,
                     Command& chosen, AddCommands add_commands) {
  const Subcommands all{app, output, global, chosen};
  add_commands(all);
  add_global_options_everywhere(app, global);
}

void configure(CLI::App& app) {
  app.name("fatune");
  app.set_help_flag("-h,--help", "print this help, and exit");
  app.set_help_all_flag("--help-all", "print the help with every option described, and exit");
  app.set_version_flag("-V,--version", version_report, "print versions and the driver, and exit");
  app.require_subcommand(0, 1);
  app.footer(
      "'fatune help COMMAND' or 'fatune COMMAND --help' shows a command's options and examples.\n"
      "Examples:\n  fatune sweep --seq 4096 --dhead 128");
}

using Words = std::vector<std::string>;

/// The word that the scripts of 'fatune completion' put before those to complete.
constexpr std::string_view kComplete = "__complete";

[[noreturn]] void fail_unknown_command(const CLI::App& app, const std::string& word) {
  const Words names = visible_commands(app);
  const std::string guess = closest_word(word, names);
  throw Error(ExitCode::usage, fmt::format("there is no command '{}'", word), {},
              !guess.empty()  ? fmt::format("did you mean '{}'?", guess)
              : names.empty() ? fmt::format("'{}' has no commands of its own", app.get_name())
                              : fmt::format("the commands are {}", fmt::join(names, ", ")));
}

/// Rewrites 'help COMMAND ...' as 'COMMAND ... --help'.
Words without_help_command(const CLI::App& app, Words words) {
  if (words.empty() || words.front() != "help") {
    return words;
  }
  words.erase(words.begin());
  const CLI::App* command = &app;
  for (const std::string& word : words) {
    const CLI::App* const next = find_command(*command, word);
    if (next == nullptr) {
      fail_unknown_command(*command, word);
    }
    command = next;
  }
  words.emplace_back("--help");
  return words;
}

/// Throws Error(usage) for an unknown command, which CLI11 would call an unexpected argument.
void check_command_name(const CLI::App& app, const Words& words) {
  if (!words.empty() && !words.front().starts_with('-') &&
      find_command(app, words.front()) == nullptr) {
    fail_unknown_command(app, words.front());
  }
}

/// The innermost command that was given, and its words: "fatune sass diff".
struct Chosen {
  const CLI::App* command;
  std::string words;
};

Chosen chosen_command(const CLI::App& app) {
  Chosen chosen{&app, "fatune"};
  for (auto next = app.get_subcommands(); !next.empty(); next = chosen.command->get_subcommands()) {
    chosen.command = next.front();
    chosen.words += " " + chosen.command->get_name();
  }
  return chosen;
}

/// Prints the help of the command that was given, as wide as the terminal.
Command help_command(const CLI::App& app, HelpExtent extent, std::size_t columns) {
  constexpr std::size_t kNoTerminal = 80;
  constexpr std::size_t kNarrowest = 20;
  return print_command(help_text(read_pages(*chosen_command(app).command), extent,
                                 columns == 0 ? kNoTerminal : std::max(columns, kNarrowest)));
}

Words option_names(const CLI::App& command) {
  Words names;
  for (const CLI::Option* option : command.get_options()) {
    names.insert(names.end(), option->get_lnames().begin(), option->get_lnames().end());
  }
  return names;
}

/// Returns the known option closest to the first unknown one. Empty: there is no such option.
std::string guess_option(const CLI::App& app, const CLI::App& command) {
  for (const std::string& word : app.remaining(true)) {
    if (word.starts_with("--")) {
      return closest_word(word.substr(2, word.find('=') - 2), option_names(command));
    }
  }
  return {};
}

Error usage_error(const CLI::App& app, const CLI::ParseError& error) {
  const Chosen chosen = chosen_command(app);
  const std::string guess = guess_option(app, *chosen.command);
  const std::string question =
      guess.empty() ? std::string() : fmt::format("did you mean '--{}'? Otherwise ", guess);
  return {
      ExitCode::usage, error.what(), {}, fmt::format("{}see '{} --help'", question, chosen.words)};
}

void parse(CLI::App& app, Words words) {
  std::ranges::reverse(words);  // CLI11 takes the words in reverse order
  app.parse(std::move(words));
}

/// Returns a command line that contains the file's options, so that it does the same in any folder.
std::string command_line_of(const ConfiguredWords& configured) {
  Words words = configured.words;
  if (!configured.file.empty()) {
    words.insert(words.begin(), {"--config-file", "none"});
  }
  return quoted_command_line(words);
}

/// Adds the file's place to the command's errors. Parsing does not find every error of an option.
Command with_places(Command command, const ConfiguredWords& configured) {
  return [command = std::move(command), configured] {
    try {
      return command();
    } catch (const Error& error) {
      throw at_its_place(error, configured);
    }
  };
}

/// Returns the capabilities of the standard streams. Colour is on for a terminal that is not
/// "dumb", unless NO_COLOR (any non-empty value), CLICOLOR_FORCE or CLICOLOR say otherwise. The
/// progress line is live if standard error is such a terminal. The width of standard output is what
/// its terminal reports, else COLUMNS.
OutputOptions terminal_defaults() {
  OutputOptions output;
  output.colour = wants_colour(is_capable_terminal(STDOUT_FILENO));
  output.live_progress = is_capable_terminal(STDERR_FILENO);
  output.columns_variable = number_of_columns(environment_variable("COLUMNS").value_or(""));
  output.columns = terminal_columns(STDOUT_FILENO, output.columns_variable);
  return output;
}

}  // namespace

void settle(const GlobalOptions& global, OutputOptions& output) {
  output.colour = global.colour.value_or(output.colour);
  output.command_line = global.command_line;
}

std::string config_file_note(const GlobalOptions& global) {
  return global.config_file.empty() ? std::string()
                                    : "defaults are from " + global.config_file.string() + "\n";
}

std::string quoted_command_line(const std::vector<std::string>& words) {
  return "fatune" +
         joined(words, "", [&](const std::string& word) { return " " + shell_word(word); });
}

Command parse_command_line(int argc, const char* const* argv, AddCommands add_commands) {
  CLI::App app("Finds the fastest configuration of a Flash Attention kernel on this GPU");
  Command command;
  GlobalOptions global;
  const OutputOptions output = terminal_defaults();
  configure(app);
  add_subcommands(app, output, global, command, add_commands);
  Words words(argv + std::min(argc, 1), argv + argc);
  if (!words.empty() && words.front() == kComplete) {
    return print_command(completions(read_pages(app), std::span(words).subspan(1)));
  }
  words = without_help_command(app, std::move(words));
  check_command_name(app, words);
  const ConfiguredWords configured = add_config_file(app, std::move(words));
  global.command_line = command_line_of(configured);
  global.config_file = configured.file;
  try {
    parse(app, configured.words);
    return command ? with_places(std::move(command), configured)
                   : help_command(app, HelpExtent::common, output.columns);
  } catch (const CLI::CallForHelp&) {
    return help_command(app, HelpExtent::common, output.columns);
  } catch (const CLI::CallForAllHelp&) {
    return help_command(app, HelpExtent::all, output.columns);
  } catch (const CLI::CallForVersion& request) {
    return print_command(std::string(request.what()) + "\n");
  } catch (const CLI::ParseError& error) {
    throw at_its_place(usage_error(app, error), configured);
  } catch (const Error& error) {
    throw at_its_place(error, configured);
  }
}

}  // namespace fatune

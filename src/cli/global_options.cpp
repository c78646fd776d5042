#include "cli/subcommands.hpp"

#include <unistd.h>

#include "cli/option.hpp"
#include "cli/typed_words.hpp"
#include "core/environment.hpp"
#include "core/text_parts.hpp"

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
  if (environment_variable("CLICOLOR_FORCE").value_or("0") != "0") {
    return true;
  }
  return is_terminal && environment_variable("CLICOLOR").value_or("1") != "0";
}

/// Parses a number of columns. 0: the text is not one.
std::size_t number_of_columns(const std::string& text) {
  constexpr std::size_t kMost = 10000;
  const std::size_t columns = whole_number<std::size_t>(text).value_or(0);
  return columns <= kMost ? columns : 0;
}

}  // namespace

void add_global_options(CLI::App& app, GlobalOptions& options) {
  add_color_option(app, options);
  const OptionScope scope(app, option_group::kGeneral);
  app.get_option("--help")->group(option_group::kGeneral);
  app.get_option("--help-all")->group(option_group::kGeneral);
  app.add_option(kConfigFileOption,
                 "defaults of options (default: fatune.toml here or in a folder above)")
      ->type_name("FILE|none");
}

void settle(const GlobalOptions& global, OutputOptions& output) {
  output.colour = global.colour.value_or(output.colour);
  output.command_line = global.command_line;
}

std::string config_file_note(const GlobalOptions& global) {
  return global.config_file.empty() ? std::string()
                                    : "defaults are from " + global.config_file.string() + "\n";
}

OutputOptions terminal_defaults() {
  OutputOptions output;
  output.colour = wants_colour(is_capable_terminal(STDOUT_FILENO));
  output.live_progress = is_capable_terminal(STDERR_FILENO);
  output.columns_variable = number_of_columns(environment_variable("COLUMNS").value_or(""));
  output.columns = terminal_columns(STDOUT_FILENO, output.columns_variable);
  return output;
}

std::string quoted_command_line(const std::vector<std::string>& words) {
  std::string line = "fatune";
  for (const std::string& word : words) {
    line += " " + shell_word(word);
  }
  return line;
}

}  // namespace fatune

#include "cli/terminal.hpp"

#include <unistd.h>

#include <charconv>
#include <string_view>

#include "app/console/terminal_width.hpp"
#include "core/environment.hpp"

namespace fatune {
namespace {

bool is_capable_terminal(int descriptor) {
  return ::isatty(descriptor) == 1 && environment_variable("TERM").value_or("") != "dumb";
}

/// 0: it is no number of columns.
std::size_t number_of_columns(const std::string& text) {
  constexpr std::size_t kMost = 10000;
  std::size_t columns = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), columns);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole && columns <= kMost ? columns : 0;
}

}  // namespace

OutputOptions terminal_defaults() {
  OutputOptions output;
  const bool no_colour = !environment_variable("NO_COLOR").value_or("").empty();
  output.colour = is_capable_terminal(STDOUT_FILENO) && !no_colour;
  output.live_progress = is_capable_terminal(STDERR_FILENO);
  output.columns_variable = number_of_columns(environment_variable("COLUMNS").value_or(""));
  output.columns = terminal_columns(STDOUT_FILENO, output.columns_variable);
  return output;
}

std::string quoted_command_line(int argc, const char* const* argv) {
  std::string line = "fatune";
  for (int i = 1; i < argc; ++i) {
    line += " " + shell_word(argv[i]);
  }
  return line;
}

}  // namespace fatune

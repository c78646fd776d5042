#include "cli/terminal.hpp"

#include <unistd.h>

#include <cstdlib>
#include <string_view>

namespace fatune {
namespace {

bool is_plain(std::string_view word) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./,=:+@%";
  return !word.empty() && word.find_first_not_of(kPlain) == std::string_view::npos;
}

std::string quoted(std::string_view word) {
  if (is_plain(word)) {
    return std::string(word);
  }
  std::string text = "'";
  for (const char c : word) {
    text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  }
  return text + "'";
}

bool is_capable_terminal(int descriptor) {
  return ::isatty(descriptor) == 1 && environment_variable("TERM").value_or("") != "dumb";
}

}  // namespace

std::optional<std::string> environment_variable(const char* name) {
  // Read before any thread is started, and never written.
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe)
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

OutputOptions terminal_defaults() {
  OutputOptions output;
  const bool no_colour = !environment_variable("NO_COLOR").value_or("").empty();
  output.colour = is_capable_terminal(STDOUT_FILENO) && !no_colour;
  output.live_progress = is_capable_terminal(STDERR_FILENO);
  return output;
}

std::string quoted_command_line(int argc, const char* const* argv) {
  std::string line = "fatune";
  for (int i = 1; i < argc; ++i) {
    line += " " + quoted(argv[i]);
  }
  return line;
}

}  // namespace fatune

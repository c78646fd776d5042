#include "cli/global_options.hpp"

#include "cli/text_option.hpp"

namespace fatune {

void add_global_options(CLI::App& app, GlobalOptions& options) {
  add_text_option(
      app, "--color", "auto|always|never", "colours in tables (default: auto, on a terminal)",
      [&options](const std::string& text) {
        options.colour = text == "auto" ? std::nullopt : std::optional(text == "always");
      })
      ->check(CLI::IsMember({"auto", "always", "never"}).description(""));
}

void settle(const GlobalOptions& global, OutputOptions& output) {
  output.colour = global.colour.value_or(output.colour);
  output.command_line = global.command_line;
}

}  // namespace fatune

#include "cli/global_options.hpp"

#include "cli/config_file.hpp"
#include "cli/option.hpp"

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

}  // namespace fatune

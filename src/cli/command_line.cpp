#include "cli/command_line.hpp"

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "app/version.hpp"
#include "cli/subcommands.hpp"
#include "cli/suggestion.hpp"
#include "cli/terminal.hpp"
#include "core/error.hpp"

namespace fatune {
namespace {

Command print_command(std::string text) {
  return [text = std::move(text)] {
    fmt::print("{}", text);
    return ExitCode::ok;
  };
}

CommandDefaults read_defaults(int argc, const char* const* argv) {
  CommandDefaults defaults;
  defaults.output = terminal_defaults();
  defaults.output.command_line = quoted_command_line(argc, argv);
  defaults.kernels_variable = environment_variable("KERNELS");
  return defaults;
}

void add_commands(CLI::App& app, const CommandDefaults& defaults, Command& command) {
  add_sweep_command(app, defaults, command);
  add_run_command(app, defaults, command);
  add_verify_winner_command(app, defaults, command);
  add_check_command(app, defaults, command);
  add_debug_command(app, defaults, command);
  add_emulate_command(app, defaults, command);
  add_history_command(app, defaults, command);
  add_show_command(app, defaults, command);
  add_list_command(app, defaults, command);
  add_compile_command(app, defaults, command);
  add_sass_command(app, defaults, command);
  add_profile_command(app, defaults, command);
  add_devices_command(app, defaults, command);
  add_doctor_command(app, defaults, command);
  add_worker_command(app, defaults, command);
}

void configure(CLI::App& app) {
  constexpr std::size_t kOptionColumn = 24;
  app.name("fatune");
  app.get_formatter()->column_width(kOptionColumn);
  app.set_version_flag("--version", fmt::format("fatune {}", version()));
  app.require_subcommand(0, 1);
  app.footer(
      "'fatune COMMAND --help' shows a command's options and examples.\n"
      "Example: fatune sweep --seq 4096 --dhead 128");
}

/// Those that the help shows.
std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* sub :
       app.get_subcommands([](const CLI::App* command) { return !command->get_group().empty(); })) {
    names.push_back(sub->get_name());
  }
  return names;
}

/// CLI11 would call an unknown subcommand an unexpected argument.
void check_command_name(const CLI::App& app, int argc, const char* const* argv) {
  const std::string word = argc > 1 ? argv[1] : "--help";
  const std::vector<std::string> names = command_names(app);
  const auto known =
      app.get_subcommands([&word](const CLI::App* command) { return command->get_name() == word; });
  if (word.starts_with("-") || !known.empty()) {
    return;
  }
  const std::string guess = closest_word(word, names);
  throw Error(ExitCode::usage, fmt::format("there is no command '{}'", word), {},
              guess.empty() ? fmt::format("the commands are {}", fmt::join(names, ", "))
                            : fmt::format("did you mean '{}'?", guess));
}

Error usage_error(const CLI::App& app, const CLI::ParseError& error) {
  const auto chosen = app.get_subcommands();
  const std::string prefix = chosen.empty() ? "fatune" : "fatune " + chosen.front()->get_name();
  return {ExitCode::usage, error.what(), {}, fmt::format("see '{} --help'", prefix)};
}

}  // namespace

Command parse_command_line(int argc, const char* const* argv) {
  CLI::App app("Finds the fastest configuration of a Flash Attention kernel on this GPU");
  Command command;
  configure(app);
  add_commands(app, read_defaults(argc, argv), command);
  check_command_name(app, argc, argv);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    return print_command(app.help());
  } catch (const CLI::CallForVersion& request) {
    return print_command(std::string(request.what()) + "\n");
  } catch (const CLI::ParseError& error) {
    throw usage_error(app, error);
  }
  return command ? command : print_command(app.help());
}

}  // namespace fatune

#pragma once

#include <CLI/CLI.hpp>

#include "app/options.hpp"
#include "cli/command_line.hpp"

// One function per subcommand, each in its own file: adds the subcommand to the parser. When it is
// the one given, `command` is set after parsing. `defaults` holds what the terminal and the
// environment say.
namespace fatune {

struct CommandDefaults {
  OutputOptions output;
  std::optional<std::string> kernels_variable;
};

void add_sweep_command(CLI::App& app, const CommandDefaults& defaults, Command& command);
void add_run_command(CLI::App& app, const CommandDefaults& defaults, Command& command);
void add_verify_winner_command(CLI::App& app, const CommandDefaults& defaults, Command& command);
void add_cases_command(CLI::App& app, const CommandDefaults& defaults, Command& command);
void add_check_command(CLI::App& app, const CommandDefaults& defaults, Command& command);
void add_list_command(CLI::App& app, const CommandDefaults& defaults, Command& command);
void add_compile_command(CLI::App& app, const CommandDefaults& defaults, Command& command);
void add_sass_command(CLI::App& app, const CommandDefaults& defaults, Command& command);
void add_debug_command(CLI::App& app, const CommandDefaults& defaults, Command& command);
void add_emulate_command(CLI::App& app, const CommandDefaults& defaults, Command& command);
void add_profile_command(CLI::App& app, const CommandDefaults& defaults, Command& command);
void add_history_command(CLI::App& app, const CommandDefaults& defaults, Command& command);
void add_show_command(CLI::App& app, const CommandDefaults& defaults, Command& command);
void add_devices_command(CLI::App& app, const CommandDefaults& defaults, Command& command);
void add_doctor_command(CLI::App& app, const CommandDefaults& defaults, Command& command);
void add_worker_command(CLI::App& app, const CommandDefaults& defaults, Command& command);

}  // namespace fatune

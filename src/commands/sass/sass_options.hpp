#pragma once

#include <CLI/CLI.hpp>

#include "cli/subcommands.hpp"
#include "commands/sass/code_options.hpp"

// Options that the subcommands of `sass` share.
namespace fatune {

/// Adds the options that choose how a configuration is compiled.
void add_compile_options(CLI::App& app, CodeOptions& options);
/// Adds --config, --run and --rank, which choose what is compiled. Call it after
/// add_compile_options().
void add_case_options(CLI::App& app, CodeOptions& options);
/// Adds the options above, --cubin and --artifact, which choose the machine code, and --function.
void add_code_options(CLI::App& app, CodeOptions& options);
void add_function_option(CLI::App& app, CodeOptions& options);

void add_sass_map_command(const Subcommands& all);

}  // namespace fatune

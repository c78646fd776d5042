#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>

#include "app/options.hpp"
#include "cli/subcommands.hpp"

// Options that the subcommands of `sass` share.
namespace fatune {

using SharedSassOptions = std::shared_ptr<SassOptions>;

/// How a configuration becomes machine code.
void add_compile_options(CLI::App& app, SassOptions& options);
/// --config, or --run and --rank: what is compiled. After add_compile_options.
void add_case_options(CLI::App& app, const SharedSassOptions& options);
/// Adds the options above, --cubin and --artifact, which choose the machine code, and --function.
void add_code_options(CLI::App& app, const SharedSassOptions& options);
void add_function_option(CLI::App& app, SassOptions& options);
/// Error(usage) when no source is named.
void check_source(const SassOptions& options);

/// `N` or `last` as a run's number; nothing for the last one.
[[nodiscard]] std::optional<std::int64_t> read_run(const std::string& text);

void add_sass_map_command(CLI::App& parent, const CommandDefaults& defaults, Command& command);

}  // namespace fatune

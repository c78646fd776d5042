#pragma once

#include "cli/subcommands.hpp"

// Options that the subcommands of `sass` share.
namespace fatune {

/// The source of the machine code that a command analyses.
struct CodeSource {
  enum class Kind {
    config,
    file,      ///< a cubin, or a listing
    artifact,  ///< the cubin cache's artifact whose key begins with the text
    run,       ///< a configuration by its rank in a stored run
    either,    ///< "artifact:KEY", else a file if one has that name, else a configuration
  };
  std::string text;
  Kind kind = Kind::config;
  std::optional<std::int64_t> run;  ///< absent: the run that began last
};

/// The sources of machine code, and how configurations are compiled.
struct CodeOptions : OfflineOptions {
  std::vector<CodeSource> sources;  ///< two for a comparison
  std::int64_t rank = 1;            ///< the configuration's rank in the run that the source names
  std::optional<std::filesystem::path> db_file;
  std::string function;  ///< empty: the only kernel
};

/// Adds the options that choose how a configuration is compiled.
void add_compile_options(CLI::App& app, CodeOptions& options);
/// Adds --config, --run and --rank, which choose what is compiled. Call it after
/// add_compile_options().
void add_case_options(CLI::App& app, CodeOptions& options);
/// Adds the options above, --cubin and --artifact, which choose the machine code, and --function.
void add_code_options(CLI::App& app, CodeOptions& options);
void add_function_option(CLI::App& app, CodeOptions& options);

void add_sass_map_command(const Subcommands& all);
void add_sass_why_command(const Subcommands& all);

}  // namespace fatune

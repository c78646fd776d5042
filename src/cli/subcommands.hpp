#pragma once

#include "base/error.hpp"
#include "cli/command_line.hpp"
#include "cli/option_groups.hpp"
#include "print/console.hpp"

namespace fatune {

/// The options that the program and each of its commands have.
struct GlobalOptions {
  std::optional<bool> colour{};  ///< absent: the terminal decides
  std::string command_line{};    ///< what records keep: the words typed, and the file's options
  std::filesystem::path config_file;  ///< the file that was read; empty: none
};

/// Applies the global options to `output`.
void settle(const GlobalOptions& global, OutputOptions& output);

/// Returns a note that names the config file, for verbose output. Empty: none was read.
[[nodiscard]] std::string config_file_note(const GlobalOptions& global);

/// Returns "fatune" and the words, quoted for a shell.
[[nodiscard]] std::string quoted_command_line(const std::vector<std::string>& words);

// How a subcommand is added to the parser.

/// The parser that subcommands are added to, and the settings that they start with.
struct Subcommands {
  CLI::App& parent;
  OutputOptions output;         ///< the terminal's defaults
  const GlobalOptions& global;  ///< known after parsing
  Command& chosen;              ///< set after parsing: the chosen work
};

/// Returns the same settings with `app` as the parser, for subcommands of a subcommand.
[[nodiscard]] inline Subcommands within(const Subcommands& all, CLI::App& app) {
  return {app, all.output, all.global, all.chosen};
}

/// A subcommand that is being added. Its options live as long as its parser or the chosen work.
template <typename Options>
struct Subcommand {
  CLI::App& app;
  Options& options;
};

/// Adds a subcommand with the terminal's output options. `work` is chosen if the subcommand is
/// given without one of its own subcommands.
template <typename Options>
Subcommand<Options> add_subcommand(const Subcommands& all, const std::string& name,
                                   const std::string& doc, ExitCode (*work)(const Options&)) {
  auto options = std::make_shared<Options>();
  options->output = all.output;
  CLI::App* const app = all.parent.add_subcommand(name, doc);
  app->callback([app, options, work, &global = all.global, &chosen = all.chosen] {
    if (app->get_subcommands().empty()) {
      settle(global, options->output);
      chosen = [options, work, note = config_file_note(global)] {
        configure_logging(options->output.verbosity);
        if (options->output.verbosity != Verbosity::quiet) {
          print_diagnostic(note);
        }
        return work(*options);
      };
    }
  });
  return {*app, *options};
}

}  // namespace fatune

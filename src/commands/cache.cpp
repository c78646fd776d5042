#include "commands/cache_command.hpp"

#include "cli/option_groups.hpp"
#include "cli/path_option.hpp"
#include "cli/subcommands.hpp"

namespace fatune {
namespace {

template <typename Options>
void add_cache_options(CLI::App& app, Options& options) {
  add_path_option(app, "--cache-dir", "DIR",
                  "cache of compiled kernels (default: $XDG_CACHE_HOME/fatune)",
                  options.compile.cache_dir);
  add_output_options(app, options.output);
}

void add_export_command_of_cache(const Subcommands& all) {
  const auto [sub, options] =
      add_subcommand(all, "export", "Write the compiled kernels to one file", cache_export);
  add_path_option(sub, "FILE", "FILE", "file to write", options.file)->required();
  add_cache_options(sub, options);
  sub.footer("Examples:\n  fatune cache export cubins-3.db");
}

void add_import_command_of_cache(const Subcommands& all) {
  const auto [sub, options] =
      add_subcommand(all, "import", "Add the compiled kernels of exported files", cache_import);
  add_paths(sub, "FILE", "FILE", "files written by 'fatune cache export'", options.files)
      ->required();
  add_cache_options(sub, options);
  sub.footer("Examples:\n  fatune cache import cubins-1.db cubins-2.db");
}

}  // namespace

void add_cache_command(const Subcommands& all) {
  CLI::App* const sub =
      all.parent.add_subcommand("cache", "Copy compiled kernels to other machines");
  sub->require_subcommand(1);
  const Subcommands inner = within(all, *sub);
  add_export_command_of_cache(inner);
  add_import_command_of_cache(inner);
  sub->footer(R"(Examples:
  fatune cache export cubins-3.db
  fatune cache import cubins-1.db cubins-2.db)");
}

}  // namespace fatune

#include "cli/numbers.hpp"
#include "cli/option_groups.hpp"
#include "cli/option_scope.hpp"
#include "cli/path_option.hpp"
#include "cli/subcommands.hpp"
#include "commands/export/export_command.hpp"

namespace fatune {
namespace {

void add_table_options(CLI::App& app, ExportOptions& options) {
  const OptionScope scope(app, option_group::kOutput);
  add_text_option(app, "--to", export_format_words(), export_formats_text() + " (default: json)",
                  [&options](const std::string& text) { options.to = parse_export_format(text); });
  add_path_option(
      app, "--out", "FILE",
      "file for the table, or folder for a library; --to t4 and kernel-tuner-cache: one "
      "file for each kernel and problem, whose name begins like FILE",
      options.out_file);
}

}  // namespace

void add_export_command(const Subcommands& all) {
  const auto [sub, options] = add_subcommand(
      all, "export", "Write tuned problems as one table, and say how good choices from it are",
      export_tuned);
  add_tuned_options(sub, options.tuned);
  add_table_options(sub, options);
  add_cover_option(sub,
                   "only the smallest set of configurations that has, for each tuned problem, one "
                   "within PERCENT of the winner",
                   options.cover_percent);
  add_compile_settings(sub, options.compile);
  add_kernel_options(sub, options.kernels, SpaceOption::no, FamilyOption::several);
  add_output_options(sub, options.output);
  sub.footer(
      R"(Each tuned problem is left out in turn: the table says what would be chosen for it from the others,
and by how much that is slower than its winner (docs/export.md). --format json prints what --out writes.

Examples:
  fatune export
  fatune export --best results/best_configs.json --to json --out table.json
  fatune export --run last --cover 5 --out table.json
  fatune export --to cpp --cover 5 --out attention
  fatune export --run last --to t4 --out last.json
  fatune export --best h100.json --best h200.json --run last --out table.json)");
}

}  // namespace fatune

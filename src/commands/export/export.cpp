#include "commands/export/export.hpp"

#include <utility>

#include "app/choice/kernel_choice.hpp"
#include "app/tuned/load_tuned.hpp"
#include "cli/subcommands.hpp"
#include "emit/export_report.hpp"
#include "emit/output_file.hpp"

namespace fatune {
namespace {

/// Restricts the table to a cover, if one is requested. A library without a cover has only the
/// winners and defaults.
TunedTable restricted(const TunedTable& table, const ExportOptions& options,
                      std::optional<Cover>& cover) {
  if (options.cover_percent) {
    cover = find_cover(table, *options.cover_percent);
    return restricted_to(table, *cover);
  }
  return is_library(options.to) ? restricted_to(table, winners_and_defaults(table)) : table;
}

ExportReport report_of(const ExportOptions& options, const FamilySet& families) {
  std::optional<Cover> cover;
  TunedTable table = restricted(load_tuned(options.tuned, families), options, cover);
  ExportReport report = judge_tuned(std::move(table), families);
  report.cover = std::move(cover);
  return report;
}

ExitCode export_table(const ExportOptions& options) {
  if (options.out_file) {
    check_output_file(*options.out_file);
  }
  const KernelSet kernels = choose_families(options.kernels);
  const ExportReport report = report_of(options, kernels.families);
  if (options.out_file) {
    write_output_file(*options.out_file, export_json(report));
  }
  print_document(export_document(report), options.output);
  return ExitCode::ok;
}

ExitCode export_library(const ExportOptions& options) {
  check_library_folder(options);
  const KernelSet kernels = choose_families(options.kernels);
  const ExportReport report = report_of(options, kernels.families);
  write_library(options, kernels.families, report);
  print_document(export_document(report), options.output);
  return ExitCode::ok;
}

ExitCode export_tuned(const ExportOptions& options) {
  switch (options.to) {
    case ExportFormat::t4:
    case ExportFormat::kernel_tuner_cache:
      return export_files(options);
    case ExportFormat::cpp:
    case ExportFormat::torch:
      return export_library(options);
    case ExportFormat::json:
      break;
  }
  return export_table(options);
}

void add_table_options(CLI::App& app, ExportOptions& options) {
  const OptionScope scope(app, option_group::kOutput);
  add_value(app, "--to", export_format_words(), export_formats_text() + " (default: json)",
            options.to, parse_export_format);
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

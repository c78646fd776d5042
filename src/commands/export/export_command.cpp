#include "commands/export/export_command.hpp"

#include <utility>

#include "app/choice/kernel_choice.hpp"
#include "app/console/console.hpp"
#include "app/tuned/load_tuned.hpp"
#include "commands/export/export_files.hpp"
#include "commands/export/export_library.hpp"
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

}  // namespace

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

}  // namespace fatune

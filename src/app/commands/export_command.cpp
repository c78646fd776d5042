#include "app/commands/export_command.hpp"

#include <utility>

#include "app/choice/kernel_choice.hpp"
#include "app/console/console.hpp"
#include "app/tuned/export_files.hpp"
#include "app/tuned/load_tuned.hpp"
#include "emit/export_report.hpp"
#include "emit/output_file.hpp"

namespace fatune {
namespace {

ExitCode export_table(const ExportOptions& options) {
  if (options.out_file) {
    check_output_file(*options.out_file);
  }
  const KernelSet kernels = choose_families(options.kernels);
  TunedTable table = load_tuned(options.tuned, kernels.families);
  std::optional<Cover> cover;
  if (options.cover_percent) {
    cover = find_cover(table, *options.cover_percent);
    table = restricted_to(table, *cover);
  }
  ExportReport report = judge_tuned(std::move(table), kernels.families);
  report.cover = std::move(cover);
  if (options.out_file) {
    write_output_file(*options.out_file, export_json(report));
  }
  print_document(export_document(report), options.output);
  return ExitCode::ok;
}

}  // namespace

ExitCode export_tuned(const ExportOptions& options) {
  switch (options.to) {
    case ExportFormat::t4:
    case ExportFormat::kernel_tuner_cache:
      return export_files(options);
    case ExportFormat::json:
      break;
  }
  return export_table(options);
}

}  // namespace fatune

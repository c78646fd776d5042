#include "app/tuned/export_files.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "app/choice/kernel_choice.hpp"
#include "app/console/console.hpp"
#include "app/run/stored_reports.hpp"
#include "app/tuned/load_tuned.hpp"
#include "app/tuned/tuned_runs.hpp"
#include "core/error.hpp"
#include "emit/list_reports.hpp"
#include "emit/output_file.hpp"
#include "exchange/result_settings.hpp"
#include "exchange/run_parts.hpp"
#include "exchange/tuning_file.hpp"

namespace fatune {
namespace {

namespace fs = std::filesystem;

void check_options(const ExportOptions& options) {
  const std::string format(export_format_name(options.to));
  if (!options.out_file) {
    throw Error(ExitCode::usage, "--to " + format + " writes files, and none is named", "--out",
                "name it: --out FILE");
  }
  if (options.cover_percent) {
    throw Error(ExitCode::usage, "--cover makes a table of its own, not " + format, "--cover",
                "leave out one of the two");
  }
}

/// Returns the named runs. Stored runs are whole. Files, and what fatune ships, have only times.
std::vector<RunReport> runs_of(const ExportOptions& options) {
  std::vector<RunReport> runs;
  for (const auto& run : options.tuned.runs) {
    runs.push_back(stored_report(options.tuned.db_file, run));
    if (!runs.back().measured) {
      throw Error(ExitCode::bad_file, "the run's times are estimates", "--run",
                  "'fatune history' lists the runs");
    }
  }
  if (runs.empty() || !options.tuned.best_files.empty()) {
    const KernelSet kernels = choose_families(options.kernels);
    const TunedTable table =
        load_tuned({options.tuned.best_files, {}, options.tuned.db_file}, kernels.families);
    std::ranges::move(tuned_runs(table, kernels.families), std::back_inserter(runs));
  }
  return runs;
}

std::vector<RunPart> all_parts(const std::vector<RunReport>& runs) {
  std::vector<RunPart> parts;
  for (const RunReport& run : runs) {
    std::ranges::move(parts_of(run), std::back_inserter(parts));
  }
  if (parts.empty()) {
    throw Error(ExitCode::nothing_ranked, "the run has no result", "--run",
                "'fatune history' lists the runs with their outcomes");
  }
  return parts;
}

std::string part_name(const RunPart& part) {
  const ProblemReport& report = part.run.problems.front();
  const std::string repetition = report.run == 1 ? "" : fmt::format(".run{}", report.run);
  return fmt::format("{}.{}.{}{}", file_name_part(part.run.device.name),
                     file_name_part(report.problem), family_of(part), repetition);
}

/// Returns "out.nvidia-h200.b1_s256_h1_d128_FP16.flash_sm80.json" for "out.json". A single file
/// keeps the given name. Names that occur twice get a number.
std::vector<fs::path> file_names(const fs::path& out, const std::vector<RunPart>& parts) {
  if (parts.size() == 1) {
    return {out};
  }
  std::vector<fs::path> names;
  std::set<fs::path> taken;
  for (const RunPart& part : parts) {
    const std::string stem = out.stem().string() + "." + part_name(part);
    const std::string ending = out.extension().string();
    fs::path name = out.parent_path() / (stem + ending);
    for (int number = 2; !taken.insert(name).second; ++number) {
      name = out.parent_path() / fmt::format("{}.{}{}", stem, number, ending);
    }
    names.push_back(std::move(name));
  }
  return names;
}

ExportedFile write_part(const RunPart& part, const fs::path& name, ExportFormat format) {
  const TuningResults results = tuning_results(part);
  write_output_file(name, tuning_file_text(format, results));
  const auto timed = std::ranges::count_if(
      results.settings, [](const TunedSetting& setting) { return setting.time_ms.has_value(); });
  return {name.string(),       part.run.device.name,    describe(part.run.problems.front().problem),
          results.kernel_name, results.settings.size(), static_cast<std::size_t>(timed)};
}

}  // namespace

ExitCode export_files(const ExportOptions& options) {
  check_options(options);
  const std::vector<RunPart> parts = all_parts(runs_of(options));
  const std::vector<fs::path> names = file_names(*options.out_file, parts);
  std::ranges::for_each(names, check_output_file);
  std::vector<ExportedFile> files;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    files.push_back(write_part(parts[i], names[i], options.to));
  }
  print_document(export_files_document(files), options.output);
  return ExitCode::ok;
}

}  // namespace fatune

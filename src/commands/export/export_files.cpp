#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "app/choice/kernel_choice.hpp"
#include "app/console/console.hpp"
#include "app/run/run_identity.hpp"
#include "app/run/stored_reports.hpp"
#include "app/tuned/load_tuned.hpp"
#include "commands/export/export.hpp"
#include "core/error.hpp"
#include "core/statistics.hpp"
#include "emit/list_reports.hpp"
#include "emit/output_file.hpp"
#include "exchange/result_settings.hpp"
#include "exchange/run_parts.hpp"
#include "exchange/tuning_file.hpp"
#include "plan/config_text.hpp"
#include "plan/family.hpp"
#include "rank/ranking.hpp"
#include "report/report.hpp"
#include "tuned/tuned_table.hpp"

namespace fatune {
namespace {

Measured measured(const TunedTime& time, const std::string& origin) {
  Measured measured{timing_of_median(time.time_us), {}};
  measured.verification.method = time.verified.empty() ? "" : "as in " + origin;
  return measured;
}

Result tuned_result(const TunedTime& time, const Family& family, const std::string& origin) {
  Result result;
  result.config = time.config;
  result.short_form = time.short_form;
  result.kernel_name = kernel_name(family, time.config);
  result.parameters = named_values(family, time.config);
  result.outcome = measured(time, origin);
  result.tie_group = time.tie_group;
  return result;
}

ProblemReport tuned_report(const TunedProblem& row, const FamilySet& families,
                           const std::string& origin) {
  ProblemReport report;
  report.problem = row.problem;
  for (const TunedTime& time : row.times) {
    report.ranking.push_back(tuned_result(time, families.of(time.config), origin));
    report.ranking.back().rank = static_cast<int>(report.ranking.size());
  }
  rank_results(report.ranking, std::nullopt);
  return report;
}

RunReport header_of(const TunedOrigin& origin, const DeviceLimits& device,
                    const FamilySet& families) {
  RunReport run;
  run.started_at = origin.started_at;
  run.measured = true;
  run.complete = origin.complete;
  run.gpus = 1;
  run.family = families.names();
  run.device = device;
  run.toolchain = {origin.fatune_version, origin.nvrtc_version, {}, origin.driver};
  run.imported_from = origin.name;
  return run;
}

/// Adds the source hashes of the row's families whose times are known to be of the sources at hand.
void add_sources(const TunedProblem& row, const SourceHashes& hashes, SourceHashes& sources) {
  for (const TunedTime& time : row.times) {
    if (time.sources_recorded) {
      sources[time.config.family] = hashes.at(time.config.family);
    }
  }
}

/// Returns the rows of a table as runs, one for each GPU and origin. They have only what the table
/// knows: no samples, no failures, and the name of each origin.
std::vector<RunReport> tuned_runs(const TunedTable& table, const FamilySet& families) {
  const SourceHashes hashes = source_hashes(families);
  std::map<std::pair<std::size_t, GpuModel>, RunReport> runs;
  for (const TunedProblem& row : table.problems) {
    const TunedOrigin& origin = table.origins[row.origin];
    RunReport& run =
        runs.try_emplace({row.origin, row.gpu}, header_of(origin, table.gpus.at(row.gpu), families))
            .first->second;
    add_sources(row, hashes, run.source_hashes);
    run.problems.push_back(tuned_report(row, families, origin.name));
  }
  std::vector<RunReport> reports;
  for (auto& [key, run] : runs) {
    reports.push_back(std::move(run));
  }
  return reports;
}

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

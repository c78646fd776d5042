#include "app/run/result_files.hpp"

#include "core/error.hpp"
#include "emit/output_file.hpp"
#include "emit/run_report.hpp"
#include "emit/verdict_report.hpp"

namespace fatune {
namespace {

constexpr const char* kResultsJson = "results.json";
constexpr const char* kResultsCsv = "results.csv";
constexpr const char* kBestConfigs = "best_configs.json";

void write_at(Moment moment, const std::filesystem::path& path, const std::string& text) {
  if (moment == Moment::at_the_end || can_be_rewritten(path)) {
    write_output_file(path, text);
  }
}

}  // namespace

std::vector<std::filesystem::path> ResultFiles::paths() const {
  std::vector<std::filesystem::path> paths;
  if (folder) {
    paths = {*folder / kResultsJson, *folder / kResultsCsv, *folder / kBestConfigs};
  }
  if (best_file) {
    paths.push_back(*best_file);
  }
  if (junit_file) {
    paths.push_back(*junit_file);
  }
  return paths;
}

ResultFiles result_files(const MeasureOptions& options) {
  if (options.print_best && options.output.format != OutputFormat::table) {
    throw Error(ExitCode::usage, "standard output cannot hold the ranking too", "--best -",
                "leave out --format, or name a file");
  }
  return {options.out_dir, options.best_file, options.print_best, options.junit_file};
}

void write_results(const ResultFiles& files, const RunReport& report, Moment moment) {
  if (files.folder) {
    write_at(moment, *files.folder / kResultsJson, results_json(report));
    write_at(moment, *files.folder / kResultsCsv, results_csv(report));
    write_at(moment, *files.folder / kBestConfigs, best_configs_json(report));
  }
  if (files.best_file) {
    write_at(moment, *files.best_file, best_configs_json(report));
  }
  if (files.junit_file && report.gate) {
    write_at(moment, *files.junit_file, gate_junit(report));
  }
}

void check_writable(const ResultFiles& files) {
  for (const auto& path : files.paths()) {
    check_output_file(path);
  }
}

}  // namespace fatune

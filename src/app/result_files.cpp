#include "app/result_files.hpp"

#include "emit/output_file.hpp"
#include "emit/run_report.hpp"

namespace fatune {
namespace {

constexpr const char* kResultsJson = "results.json";
constexpr const char* kResultsCsv = "results.csv";
constexpr const char* kBestConfigs = "best_configs.json";

}  // namespace

std::vector<std::filesystem::path> ResultFiles::paths() const {
  std::vector<std::filesystem::path> paths;
  if (folder) {
    paths = {*folder / kResultsJson, *folder / kResultsCsv, *folder / kBestConfigs};
  }
  if (best_file) {
    paths.push_back(*best_file);
  }
  return paths;
}

void write_results(const ResultFiles& files, const RunReport& report) {
  if (files.folder) {
    write_output_file(*files.folder / kResultsJson, results_json(report));
    write_output_file(*files.folder / kResultsCsv, results_csv(report));
    write_output_file(*files.folder / kBestConfigs, best_configs_json(report));
  }
  if (files.best_file) {
    write_output_file(*files.best_file, best_configs_json(report));
  }
}

void check_writable(const ResultFiles& files) {
  for (const auto& path : files.paths()) {
    check_output_file(path);
  }
}

}  // namespace fatune

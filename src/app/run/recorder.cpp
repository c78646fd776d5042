#include "app/run/recorder.hpp"

#include <iterator>
#include <utility>

#include <spdlog/spdlog.h>

#include "emit/output_file.hpp"
#include "emit/run_report.hpp"
#include "emit/verdict_report.hpp"
#include "rank/ranking.hpp"

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

std::vector<std::filesystem::path> paths_of(const ResultFiles& files) {
  std::vector<std::filesystem::path> paths;
  if (files.folder) {
    paths = {*files.folder / kResultsJson, *files.folder / kResultsCsv,
             *files.folder / kBestConfigs};
  }
  for (const auto& file : {files.best_file, files.junit_file}) {
    if (file) {
      paths.push_back(*file);
    }
  }
  return paths;
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
  for (const auto& path : paths_of(files)) {
    check_output_file(path);
  }
}

Recorder::Recorder(RunReport header, ResultFiles files)
    : report_(std::move(header)), files_(std::move(files)) {}

void Recorder::set_device(const DeviceLimits& limits) {
  settle();
  report_.device = limits;
}

void Recorder::set_gate(GateReport gate) {
  settle();
  report_.gate = std::move(gate);
}

void Recorder::set_disturbances(std::vector<std::string> disturbances) {
  settle();
  report_.disturbances = std::move(disturbances);
}

void Recorder::add(std::size_t number, ProblemReport problem) {
  settle();
  const auto place = std::distance(numbers_.begin(), numbers_.insert(number).first);
  report_.problems.insert(report_.problems.begin() + place, std::move(problem));
  report_.choices = common_choices(report_.problems);
  note_wall_time();
  saving_ = std::async(std::launch::async, [this] { save(Moment::meanwhile); });
}

void Recorder::close(bool complete, double busy_s) {
  settle();
  report_.complete = complete;
  report_.busy_s = busy_s;
  note_wall_time();
  save(Moment::at_the_end);
}

void Recorder::note_wall_time() {
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start_;
  report_.wall_s = wall.count();
}

void Recorder::settle() {
  if (saving_.valid()) {
    saving_.get();
  }
}

void Recorder::save(Moment moment) {
  try {
    write_results(files_, report_, moment);
    file_error_.reset();
  } catch (const Error& error) {
    if (!file_error_) {
      spdlog::warn("results are not in their files yet: {}", error.what());
    }
    file_error_ = error;
  }
}

}  // namespace fatune

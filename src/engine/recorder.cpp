#include "engine/session.hpp"

#include <iterator>

#include <spdlog/spdlog.h>

#include "base/ranges.hpp"
#include "print/comparisons.hpp"
#include "print/files.hpp"
#include "print/run_report.hpp"
#include "race/ranking.hpp"

namespace fatune {
namespace {

/// A file, and what makes its text.
struct ResultFile {
  std::filesystem::path path;
  std::string (*text_of)(const RunReport& report);
};

std::vector<ResultFile> list_files(const ResultFiles& files) {
  std::vector<ResultFile> list;
  if (files.folder) {
    list = {{*files.folder / "results.json", results_json},
            {*files.folder / "results.csv", results_csv},
            {*files.folder / "best_configs.json", best_configs_json}};
  }
  if (files.best_file) {
    list.push_back({*files.best_file, best_configs_json});
  }
  if (files.junit_file) {
    list.push_back({*files.junit_file, gate_junit});
  }
  return list;
}

}  // namespace

std::vector<std::filesystem::path> paths_of(const ResultFiles& files) {
  return mapped(list_files(files), &ResultFile::path);
}

void check_writable(const ResultFiles& files) {
  for (const auto& path : paths_of(files)) {
    check_output_file(path);
  }
}

void Recorder::add(std::size_t number, ProblemReport problem) {
  settle();
  const auto place = std::distance(numbers_.begin(), numbers_.insert(number).first);
  report_.problems.insert(report_.problems.begin() + place, std::move(problem));
  report_.choices = common_choices(report_.problems);
  note_wall_time();
  saving_ = std::async(std::launch::async, [this] { save(false); });
}

void Recorder::close(bool complete, double busy_s) {
  settle();
  report_.complete = complete;
  report_.busy_s = busy_s;
  note_wall_time();
  save(true);
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

void Recorder::save(bool at_the_end) {
  try {
    for (const auto& [path, text_of] : list_files(files_)) {
      if ((text_of != gate_junit || report_.gate) && (at_the_end || can_be_rewritten(path))) {
        write_output_file(path, text_of(report_));
      }
    }
    file_error_.reset();
  } catch (const Error& error) {
    if (!file_error_) {
      spdlog::warn("results are not in their files yet: {}", error.what());
    }
    file_error_ = error;
  }
}

}  // namespace fatune

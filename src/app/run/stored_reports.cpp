#include "app/run/stored_reports.hpp"

#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "core/error.hpp"
#include "rank/ranking.hpp"
#include "store/open_store.hpp"
#include "store/run_reader.hpp"

namespace fatune {
namespace {

namespace fs = std::filesystem;

std::optional<Database> open_if_there(const std::optional<fs::path>& file) {
  if (file) {
    return open_store(*file, Database::Mode::existing);
  }
  const auto path = default_store_path();
  std::error_code ignored;
  if (!path || !fs::exists(*path, ignored)) {
    return std::nullopt;
  }
  return open_store(*path, Database::Mode::existing);
}

ProblemReport ranked_report(StoredProblem problem, const std::optional<Config>& baseline) {
  if (!problem.ranked) {
    sort_into_report(std::exchange(problem.report.ranking, {}), baseline, problem.report);
  }
  return std::move(problem.report);
}

[[noreturn]] void fail_no_run(const std::optional<std::int64_t>& run) {
  throw Error(ExitCode::usage, run ? fmt::format("no run {} is stored", *run) : "no run is stored",
              {}, "'fatune history' lists the runs; sweep and run store one");
}

}  // namespace

std::vector<RunSummary> stored_runs(const std::optional<fs::path>& file) {
  std::optional<Database> database = open_if_there(file);
  if (!database) {
    return {};
  }
  RunList list = list_runs(*database);
  for (const std::int64_t run : list.damaged) {
    spdlog::warn("run {} is damaged, and left out", run);
  }
  return std::move(list.runs);
}

RunReport stored_report(const std::optional<fs::path>& file, std::optional<std::int64_t> run) {
  std::optional<Database> database = open_if_there(file);
  const auto id = run || !database ? run : last_run(*database);
  std::optional<StoredRun> stored =
      database && id ? load_run(*database, *id) : std::optional<StoredRun>();
  if (!stored) {
    fail_no_run(run);
  }
  RunReport report = std::move(stored->header);
  for (StoredProblem& problem : stored->problems) {
    report.problems.push_back(ranked_report(std::move(problem), stored->baseline));
  }
  report.choices = common_choices(report.problems);
  return report;
}

}  // namespace fatune

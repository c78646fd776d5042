#include "commands/export/tuned_runs.hpp"

#include <map>
#include <utility>

#include "app/run/run_identity.hpp"
#include "core/statistics.hpp"
#include "plan/config_text.hpp"
#include "plan/kernel_name.hpp"
#include "rank/ranking.hpp"

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

}  // namespace

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

}  // namespace fatune

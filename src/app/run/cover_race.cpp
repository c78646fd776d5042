#include "app/run/cover_race.hpp"

#include <map>
#include <set>
#include <string>

#include "app/run/run_identity.hpp"
#include "tuned/tuned_file.hpp"

namespace fatune {
namespace {

std::set<Config> winners_of(const std::vector<ProblemReport>& reports) {
  std::set<Config> winners;
  for (const ProblemReport& report : reports) {
    if (!report.ranking.empty()) {
      winners.insert(report.ranking.front().config);
    }
  }
  return winners;
}

/// Plans a problem's further race. It has no audited configurations if nothing is missing.
ProblemPlan plan_cover_race(const ProblemPlan& plan, const Config& winner,
                            const std::set<Config>& winners) {
  ProblemPlan race;
  race.problem = plan.problem;
  race.run = plan.run + 1;
  race.configs = {winner};
  race.kept_in_race = winner;
  std::map<std::string, std::int64_t> pruned_by_rule;
  for (const PrunedConfig& pruned : plan.pruned_here) {
    if (winners.contains(pruned.config)) {
      race.audited.push_back({pruned.config, pruned.why.rule});
      ++race.pruned;
      ++pruned_by_rule[pruned.why.rule];
    }
  }
  race.pruned_by_rule.assign(pruned_by_rule.begin(), pruned_by_rule.end());
  return race;
}

}  // namespace

std::vector<ProblemPlan> plan_cover_races(const std::vector<ProblemPlan>& plans,
                                          const std::vector<ProblemReport>& reports) {
  const std::set<Config> winners = winners_of(reports);
  std::vector<ProblemPlan> races;
  for (std::size_t i = 0; i < plans.size(); ++i) {
    if (!reports.at(i).ranking.empty()) {
      races.push_back(plan_cover_race(plans[i], reports[i].ranking.front().config, winners));
    }
  }
  std::erase_if(races, [](const ProblemPlan& race) { return race.audited.empty(); });
  return races;
}

Cover find_cover(const RunReport& run, const FamilySet& families, double percent) {
  const SourceHashes hashes = source_hashes(families);
  TunedTable table;
  add_tuned(run, "this run", {families, hashes}, table);
  finish_table(table);
  return find_cover(table, percent);
}

}  // namespace fatune

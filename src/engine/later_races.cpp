#include "engine/choice/rivals.hpp"

#include <algorithm>
#include <map>
#include <ranges>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "choose/tuned_file.hpp"
#include "engine/session.hpp"
#include "plan/config_text.hpp"
#include "race/comparison.hpp"
#include "race/ranking.hpp"

namespace fatune {
namespace {

/// The 95 % interval of the median ratio is about +-0.2 % wide where samples vary by 1 %.
constexpr int kDuelRounds = 200;

/// A comparison on its way to its verdict.
struct Duel {
  RivalCheck check;
  const ProblemPlan* plan = nullptr;
  const ProblemReport* report = nullptr;
  std::optional<Config> config;
  std::vector<Config> tied;  ///< with the run's winner
  std::optional<Config> rival;
};

std::string name_in(const FamilySet& families, const Config& config) {
  const Family& family = families.of(config);
  return short_form(family, config) + (family.version.empty() ? "" : " @ " + family.version);
}

/// Decides the duel without a race.
void settle(Duel& duel, Verdict verdict, std::string why, Doubt doubt = Doubt::none) {
  duel.check.verdict = verdict;
  duel.check.doubt = doubt;
  duel.check.why = std::move(why);
  duel.rival.reset();
}

void leave_undecided(Duel& duel, Doubt doubt) { settle(duel, Verdict::undecided, "", doubt); }

/// The report of the plan's problem. Null: the run was interrupted before it was finished.
const ProblemReport* report_of(const ProblemPlan& plan, const RunReport& run, bool complete) {
  const auto found = std::ranges::find_if(run.problems, [&](const ProblemReport& report) {
    return report.problem == plan.problem && report.run == plan.run;
  });
  return found != run.problems.end() && (complete || is_finished(*found)) ? &*found : nullptr;
}

Duel begin_duel(const ProblemPlan& plan, const ProblemReport* report) {
  Duel duel;
  duel.check.problem = plan.problem;
  duel.plan = &plan;
  duel.report = report;
  if (report == nullptr) {
    leave_undecided(duel, Doubt::stopped);
  } else if (report->ranking.empty()) {
    settle(duel, Verdict::failed, "nothing is ranked");
  } else {
    duel.config = report->ranking.front().config;
    for (const Result& result : report->ranking | std::views::drop(1)) {
      if (result.tie_group == report->ranking.front().tie_group) {
        duel.tied.push_back(result.config);
      }
    }
  }
  return duel;
}

/// Returns the file's winner of the problem, built from the rivals' sources. Nothing: there is
/// none, and the check says why.
std::optional<Config> rival_of_file(const Rivals& rivals, Duel& duel) {
  const Result* const known = find_winner(*rivals.best, duel.check.problem);
  if (known == nullptr) {
    settle(duel, Verdict::added, "the file has no winner for this problem");
    return std::nullopt;
  }
  if (std::holds_alternative<Measured>(known->outcome)) {
    duel.check.file_us = ranked_us(known->outcome);
  }
  try {
    return rivals.config_of(known->config.family, known->short_form);
  } catch (const Error& error) {
    settle(duel, Verdict::added,
           fmt::format("the file's winner '{}': {}", known->short_form, error.what()));
    return std::nullopt;
  }
}

/// Makes the file's winner the one that is judged, and the run's winner its rival.
void judge_files_winner(const Rivals& rivals, Duel& duel) {
  duel.rival = std::exchange(duel.config, rival_of_file(rivals, duel));
  if (duel.report == nullptr || !duel.config) {
    return;
  }
  if (const Result* const failed = find_result(duel.report->failures, *duel.config)) {
    settle(duel, Verdict::failed, outcome_summary(failed->outcome));
  } else if (find_result(duel.report->ranking, *duel.config) == nullptr) {
    leave_undecided(duel, Doubt::stopped);
  }
}

/// Returns the plan's configurations, built from the other sources.
ProblemPlan plan_of_other_sources(const Rivals& rivals, const ProblemPlan& plan) {
  ProblemPlan other;
  other.problem = plan.problem;
  for (const Config& config : plan.configs) {
    if (auto twin = rivals.twin_of(config)) {
      other.configs.push_back(*std::move(twin));
    }
  }
  return other;
}

void take_fastest_of_other_sources(const Rivals& rivals, std::vector<Duel>& duels,
                                   const MeasurePlans& measure_plans) {
  std::vector<ProblemPlan> plans;
  std::vector<Duel*> raced;
  for (Duel& duel : duels) {
    if (duel.config) {
      plans.push_back(plan_of_other_sources(rivals, *duel.plan));
      raced.push_back(&duel);
    }
  }
  const std::vector<ProblemReport> reports = measure_plans(plans);
  for (std::size_t i = 0; i < raced.size(); ++i) {
    if (i >= reports.size()) {
      leave_undecided(*raced[i], Doubt::stopped);
    } else if (reports[i].ranking.empty()) {
      settle(*raced[i], Verdict::added, "nothing is ranked with the other sources");
    } else {
      raced[i]->rival = reports[i].ranking.front().config;
    }
  }
}

ProblemPlan plan_of(const Duel& duel) {
  ProblemPlan plan;
  plan.problem = duel.check.problem;
  plan.configs = {*duel.config, *duel.rival};
  plan.repeats = kDuelRounds;
  return plan;
}

/// The verdict on a configuration that is its own rival. A race that its budget ended early may
/// have missed a faster one, which is a doubt about an earlier winner.
void judge_itself(const Rivals& rivals, Duel& duel) {
  const ProblemReport& report = *duel.report;
  const Result* const result = find_result(report.ranking, *duel.config);
  duel.check.time_us = duel.check.rival_us = ranked_us(result->outcome);
  if (rivals.judges_file && report.measuring &&
      report.measuring->stopped_because == StopReason::budget) {
    leave_undecided(duel, Doubt::few_samples);
  } else {
    settle(duel, Verdict::equal, "it is still the winner");
  }
}

void fight(const Rivals& rivals, std::vector<Duel>& duels, const MeasurePlans& measure_plans) {
  std::vector<ProblemPlan> plans;
  std::vector<Duel*> fought;
  for (Duel& duel : duels) {
    if (duel.config) {
      duel.check.family = duel.config->family;
      duel.check.config = name_in(rivals.families, *duel.config);
    }
    if (duel.rival) {
      duel.check.rival = name_in(rivals.families, *duel.rival);
      if (duel.config == duel.rival) {
        judge_itself(rivals, duel);
        continue;
      }
      plans.push_back(plan_of(duel));
      fought.push_back(&duel);
    }
  }
  const std::vector<ProblemReport> reports = measure_plans(plans);
  for (std::size_t i = 0; i < fought.size(); ++i) {
    if (i < reports.size()) {
      judge_duel(reports[i], *fought[i]->config, *fought[i]->rival, rivals.tolerance_percent,
                 fought[i]->check);
    } else {
      leave_undecided(*fought[i], Doubt::stopped);
    }
  }
}

/// Returns the duel of the rival's own configuration, built from this run's sources, if that is
/// tied with a winner that lost. Nothing: there is no such duel.
std::optional<Duel> rematch_of(const Rivals& rivals, const Duel& lost) {
  const auto twin = std::ranges::find_if(
      lost.tied, [&](const Config& config) { return rivals.twin_of(config) == lost.rival; });
  if (lost.check.verdict != Verdict::slower || twin == lost.tied.end()) {
    return std::nullopt;
  }
  Duel rematch = lost;
  rematch.config = *twin;
  rematch.check = {};
  rematch.check.problem = lost.check.problem;
  rematch.check.file_us = lost.check.file_us;
  return rematch;
}

/// Repeats lost duels with a configuration that is tied with the winner. A sweep cannot tell its
/// winner from the configurations that are tied with it. A slower winner proves nothing about the
/// sources if the rival's configuration, built from this run's sources, is not slower.
void fight_again(const Rivals& rivals, std::vector<Duel>& duels,
                 const MeasurePlans& measure_plans) {
  std::vector<Duel> rematches;
  std::vector<Duel*> lost;
  for (Duel& duel : duels) {
    if (auto rematch = rematch_of(rivals, duel)) {
      rematches.push_back(*std::move(rematch));
      lost.push_back(&duel);
    }
  }
  fight(rivals, rematches, measure_plans);
  for (std::size_t i = 0; i < lost.size(); ++i) {
    RivalCheck& check = rematches[i].check;
    if (check.verdict == Verdict::equal || (check.slower_by && !is_worse(check))) {
      check.why = "tied with the winner " + lost[i]->check.config;
      lost[i]->check = std::move(check);
    }
  }
}

void choose_opponents(const Rivals& rivals, std::vector<Duel>& duels,
                      const MeasurePlans& measure_plans) {
  if (!rivals.judges_file && !rivals.best) {
    return take_fastest_of_other_sources(rivals, duels, measure_plans);
  }
  for (Duel& duel : duels) {
    if (rivals.judges_file) {
      judge_files_winner(rivals, duel);
    } else if (duel.config) {
      duel.rival = rival_of_file(rivals, duel);
    }
  }
}

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

bool is_finished(const ProblemReport& report) {
  return report.measuring && report.measuring->stopped_because != StopReason::not_yet;
}

GateReport race_rivals(const Rivals& rivals, const std::vector<ProblemPlan>& plans,
                       const RunReport& run, bool complete, const MeasurePlans& measure_plans) {
  std::vector<Duel> duels;
  for (const ProblemPlan& plan : plans) {
    if (plan.run == 1) {
      duels.push_back(begin_duel(plan, report_of(plan, run, complete)));
    }
  }
  choose_opponents(rivals, duels, measure_plans);
  fight(rivals, duels, measure_plans);
  fight_again(rivals, duels, measure_plans);
  GateReport report{"", rivals.name, rivals.tolerance_percent};
  if (rivals.judges_file) {
    report.of = std::exchange(report.against, "this run's");
  }
  if (rivals.best) {
    report.differences = differences(*rivals.best, run);
  }
  for (Duel& duel : duels) {
    // By how much the file's winner is slower than it was in the file.
    const auto& here = rivals.judges_file ? duel.check.time_us : duel.check.rival_us;
    if (duel.check.file_us && here) {
      duel.check.since_file_percent = 100.0 * (*here / *duel.check.file_us - 1.0);
    }
    report.checks.push_back(std::move(duel.check));
  }
  return report;
}

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

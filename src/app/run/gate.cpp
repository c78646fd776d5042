#include "app/run/gate.hpp"

#include <algorithm>
#include <ranges>

#include <fmt/format.h>

#include "core/error.hpp"
#include "plan/config_text.hpp"
#include "plan/short_form.hpp"
#include "rank/gate_verdict.hpp"

namespace fatune {
namespace {

/// The 95 % interval of the median ratio is about +-0.2 % wide where samples vary by 1 %.
constexpr int kDuelRounds = 200;

/// A winner on its way to its verdict.
struct Duel {
  GateCheck check;
  const ProblemPlan* plan = nullptr;
  std::optional<Config> winner;
  std::vector<Config> tied;  ///< with the winner
  std::optional<Config> rival;
};

std::string name_in(const FamilySet& families, const Config& config) {
  const Family& family = families.of(config);
  return short_form(family, config) + (family.version.empty() ? "" : " @ " + family.version);
}

void leave_out(Duel& duel, GateVerdict verdict, std::string why) {
  duel.check.verdict = verdict;
  duel.check.why = std::move(why);
}

Duel begin_duel(const FamilySet& families, const ProblemPlan& plan, const ProblemReport& report) {
  Duel duel;
  duel.check.problem = report.problem;
  duel.plan = &plan;
  if (report.ranking.empty()) {
    leave_out(duel, GateVerdict::failed, "nothing is ranked");
    return duel;
  }
  duel.winner = report.ranking.front().config;
  for (const Result& result : report.ranking | std::views::drop(1)) {
    if (result.tie_group == report.ranking.front().tie_group) {
      duel.tied.push_back(result.config);
    }
  }
  duel.check.winner = name_in(families, *duel.winner);
  return duel;
}

const KnownWinner* find_winner(const BestFile& best, const Problem& problem) {
  const auto found = std::ranges::find(best.winners, problem, &KnownWinner::problem);
  return found == best.winners.end() ? nullptr : &*found;
}

/// Returns the file's winner of the problem, built from the rivals' sources. Nothing: there is
/// none, and the check says why.
std::optional<Config> rival_of_file(const Rivals& rivals, Duel& duel) {
  const KnownWinner* const known = find_winner(*rivals.best, duel.check.problem);
  if (known == nullptr) {
    leave_out(duel, GateVerdict::no_rival, "the file has no winner for this problem");
    return std::nullopt;
  }
  const std::string family = known->family + (rivals.version.empty() ? "" : "@" + rivals.version);
  const Family* const of = rivals.families.find(family);
  if (of == nullptr) {
    leave_out(duel, GateVerdict::no_rival,
              fmt::format("the file's winner is from {}, which is not raced here", family));
    return std::nullopt;
  }
  try {
    return parse_config(*of, known->config);
  } catch (const Error& error) {
    leave_out(duel, GateVerdict::no_rival,
              fmt::format("the file's winner '{}': {}", known->config, error.what()));
    return std::nullopt;
  }
}

void take_rivals_of_file(const Rivals& rivals, std::vector<Duel>& duels) {
  for (Duel& duel : duels) {
    if (duel.winner) {
      duel.rival = rival_of_file(rivals, duel);
    }
  }
}

/// Returns the plan's configurations, built from the other sources.
ProblemPlan plan_of_other_sources(const Rivals& rivals, const ProblemPlan& plan) {
  ProblemPlan other;
  other.problem = plan.problem;
  for (const Config& config : plan.configs) {
    if (auto twin = rivals.with_other_sources(config)) {
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
    if (duel.winner) {
      plans.push_back(plan_of_other_sources(rivals, *duel.plan));
      raced.push_back(&duel);
    }
  }
  const std::vector<ProblemReport> reports = measure_plans(plans);
  for (std::size_t i = 0; i < raced.size(); ++i) {
    if (i >= reports.size()) {
      leave_out(*raced[i], GateVerdict::undecided, "the run was stopped before its turn");
    } else if (reports[i].ranking.empty()) {
      leave_out(*raced[i], GateVerdict::no_rival, "nothing is ranked with the other sources");
    } else {
      raced[i]->rival = reports[i].ranking.front().config;
    }
  }
}

ProblemPlan plan_of(const Duel& duel) {
  ProblemPlan plan;
  plan.problem = duel.check.problem;
  plan.configs = {*duel.winner, *duel.rival};
  plan.repeats = kDuelRounds;
  return plan;
}

void fight(const Rivals& rivals, std::vector<Duel>& duels, const MeasurePlans& measure_plans) {
  std::vector<ProblemPlan> plans;
  std::vector<Duel*> fought;
  for (Duel& duel : duels) {
    if (!duel.winner || !duel.rival) {
      continue;
    }
    duel.check.rival = name_in(rivals.families, *duel.rival);
    if (*duel.winner == *duel.rival) {
      leave_out(duel, GateVerdict::equal, "it is still the winner");
      continue;
    }
    plans.push_back(plan_of(duel));
    fought.push_back(&duel);
  }
  const std::vector<ProblemReport> reports = measure_plans(plans);
  for (std::size_t i = 0; i < fought.size(); ++i) {
    if (i < reports.size()) {
      judge_duel(reports[i], *fought[i]->winner, *fought[i]->rival, rivals.tolerance_percent,
                 fought[i]->check);
    } else {
      leave_out(*fought[i], GateVerdict::undecided, "the run was stopped before its turn");
    }
  }
}

/// Returns the duel of the rival's own configuration, built from this run's sources, if that is
/// tied with a winner that lost. Nothing: there is no such duel.
std::optional<Duel> rematch_of(const Rivals& rivals, const Duel& lost) {
  const auto twin = std::ranges::find_if(lost.tied, [&](const Config& config) {
    return rivals.with_other_sources(config) == lost.rival;
  });
  if (lost.check.verdict != GateVerdict::slower || twin == lost.tied.end()) {
    return std::nullopt;
  }
  Duel rematch = lost;
  rematch.winner = *twin;
  rematch.check = {};
  rematch.check.problem = lost.check.problem;
  rematch.check.winner = name_in(rivals.families, *twin);
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
    GateCheck& check = rematches[i].check;
    if (check.ratio && check.verdict != GateVerdict::slower) {
      check.why = "tied with the winner " + lost[i]->check.winner;
      lost[i]->check = std::move(check);
    }
  }
}

}  // namespace

GateReport race_rivals(const Rivals& rivals, const std::vector<ProblemPlan>& plans,
                       const std::vector<ProblemReport>& reports,
                       const MeasurePlans& measure_plans) {
  std::vector<Duel> duels;
  for (std::size_t i = 0; i < plans.size() && i < reports.size(); ++i) {
    if (reports[i].run == 1) {
      duels.push_back(begin_duel(rivals.families, plans[i], reports[i]));
    }
  }
  if (rivals.best) {
    take_rivals_of_file(rivals, duels);
  } else {
    take_fastest_of_other_sources(rivals, duels, measure_plans);
  }
  fight(rivals, duels, measure_plans);
  fight_again(rivals, duels, measure_plans);
  GateReport report{rivals.name, rivals.tolerance_percent, {}};
  for (Duel& duel : duels) {
    report.checks.push_back(std::move(duel.check));
  }
  return report;
}

}  // namespace fatune

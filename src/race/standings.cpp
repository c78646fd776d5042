#include "race/standings.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <tuple>

#include <fmt/format.h>

#include "core/statistics.hpp"
#include "race/precision.hpp"

namespace fatune {
namespace {

const Series& ranked_series(const Runner& runner) {
  return runner.finals.empty() ? runner.race : runner.finals;
}

bool is_placed(const Runner& runner) { return !runner.withdrawn && !ranked_series(runner).empty(); }

// The order: finalists, those eliminated in the finals, the other contenders, the others
// eliminated.
auto sort_key(const Runner& runner) {
  return std::tuple(runner.finals.empty(), runner.eliminated_in_round.has_value(),
                    ranked_series(runner).median_us());
}

std::vector<RunnerId> in_order(const std::vector<Runner>& runners) {
  std::vector<RunnerId> order(runners.size());
  std::iota(order.begin(), order.end(), RunnerId{0});
  std::erase_if(order, [&](RunnerId id) { return !is_placed(runners[id]); });
  std::stable_sort(order.begin(), order.end(), [&](RunnerId a, RunnerId b) {
    return sort_key(runners[a]) < sort_key(runners[b]);
  });
  return order;
}

bool tied(const Runner& runner, const Runner& fastest, const RacePolicy& policy) {
  if (runner.eliminated_in_round && !fastest.eliminated_in_round) {
    return false;
  }
  const auto interval = ratio_interval(runner, fastest, policy.confidence);
  return interval ? interval->low <= 1.0
                  : ranked_series(runner).median_us() <=
                        ranked_series(fastest).median_us() * (1.0 + policy.admission_margin);
}

std::vector<std::string> warnings_of(const Runner& runner) {
  std::vector<std::string> warnings;
  if (runner.kept_throttled > 0) {
    warnings.push_back(fmt::format("{} samples were taken while the GPU throttled its clocks",
                                   runner.kept_throttled));
  }
  if (runner.kept_off_rounds > 0) {
    warnings.push_back(
        fmt::format("{} samples are of rounds in which the GPU was unusually fast or slow",
                    runner.kept_off_rounds));
  }
  return warnings;
}

std::string stop_text(const Runner& runner, StopReason stopped_because) {
  if (runner.eliminated_in_round == 0) {
    return "eliminated at admission";
  }
  return runner.eliminated_in_round
             ? fmt::format("eliminated in round {}", *runner.eliminated_in_round)
             : std::string(stop_reason_name(stopped_because));
}

CandidateResult describe(const Runner& runner, RunnerId id, const RacePolicy& policy,
                         StopReason stopped_because) {
  CandidateResult result;
  result.candidate = id;
  result.eliminated_in_round = runner.eliminated_in_round;
  result.warnings = warnings_of(runner);
  if (is_placed(runner)) {
    result.finalist = !runner.finals.empty();
    result.timing = summarise(ranked_series(runner).taken_us(), policy.confidence);
    result.timing.stopped_because = stop_text(runner, stopped_because);
  }
  return result;
}

void number(const std::vector<Runner>& runners, const RacePolicy& policy,
            std::vector<CandidateResult>& results) {
  int place = 0;
  int group = 0;
  const Runner* fastest = nullptr;
  const std::vector<RunnerId> order = in_order(runners);
  for (const RunnerId id : order) {
    if (id != order.front()) {
      results[id].to_fastest =
          ratio_interval(runners[id], runners[order.front()], policy.confidence);
    }
    if (fastest == nullptr || !tied(runners[id], *fastest, policy)) {
      fastest = &runners[id];
      ++group;
    }
    results[id].place = ++place;
    results[id].tie_group = group;
  }
}

}  // namespace

std::string_view stop_reason_name(StopReason reason) {
  switch (reason) {
    case StopReason::fixed_count:
      return "fixed count";
    case StopReason::target:
      return "target reached";
    case StopReason::noise:
      return "noise stopped falling";
    case StopReason::budget:
      return "budget used up";
    case StopReason::round_limit:
      return "round limit";
    case StopReason::nobody_left:
      return "nobody left";
    case StopReason::not_yet:
      break;
  }
  return "interrupted";
}

std::vector<CandidateResult> make_standings(const std::vector<Runner>& runners,
                                            const RacePolicy& policy, StopReason stopped_because) {
  std::vector<CandidateResult> results;
  for (RunnerId id = 0; id < runners.size(); ++id) {
    results.push_back(describe(runners[id], id, policy, stopped_because));
  }
  number(runners, policy, results);
  return results;
}

}  // namespace fatune

#include "model/report.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.hpp"
#include "base/ranges.hpp"
#include "base/text_parts.hpp"
#include "model/emulation.hpp"

namespace fatune {
namespace {

void keep_winners(ProblemReport& problem) {
  constexpr std::size_t kBest = 5;
  std::vector<Result> best = std::move(problem.ranking);
  const auto ranked = static_cast<std::int64_t>(best.size()) + problem.more_ranked;
  const auto failed = static_cast<std::int64_t>(count_failed(problem));
  best.resize(std::min(best.size(), kBest));
  for (Result& result : best) {
    if (auto* measured = std::get_if<Measured>(&result.outcome)) {
      measured->timing.samples_us.clear();
    }
  }
  problem = without_results(problem);
  problem.more_ranked = ranked - std::ssize(best);
  problem.more_failed = failed;
  problem.ranking = std::move(best);
}

constexpr int kMostShards = 1'000'000;

[[noreturn]] void fail_shard(std::string_view text) {
  throw Error(ExitCode::usage, fmt::format("'{}' is not a shard", text), "--shard",
              fmt::format("a number from 1 to the count of shards, e.g. 3/8; at most {} shards",
                          kMostShards));
}

}  // namespace

double busy_percent(const RunReport& report) {
  const double available_s = report.wall_s * report.gpus;
  return available_s > 0.0 ? 100.0 * report.busy_s / available_s : 0.0;
}

const Result* find_result(const std::vector<Result>& results, const Config& config) {
  return find_in(results, config, &Result::config);
}

ProblemReport without_results(const ProblemReport& report) {
  ProblemReport rest = report;
  rest.ranking.clear();
  rest.failures.clear();
  rest.audited.clear();
  return rest;
}

std::size_t count_failed(const ProblemReport& report) {
  const auto listed = std::ranges::count_if(report.failures, [](const Result& result) {
    return !std::holds_alternative<Pruned>(result.outcome);
  });
  return static_cast<std::size_t>(listed + report.more_failed);
}

bool is_cover_race(const ProblemReport& report) { return report.run > 1 && report.pruned > 0; }

bool was_searched(const ProblemReport& report) {
  return std::ranges::any_of(report.ranking, [](const Result& result) {
    return result.proposal > 0 && result.proposed_by != kTriesAll;
  });
}

std::size_t count_ranked(const ProblemReport& report) {
  return report.ranking.size() + static_cast<std::size_t>(report.more_ranked);
}

RunReport only_winners(const RunReport& report) {
  RunReport winners = report;
  std::erase_if(winners.problems, is_cover_race);
  for (ProblemReport& problem : winners.problems) {
    keep_winners(problem);
  }
  return winners;
}

Verdict verdict_of(const SlowerBy& interval, double tolerance_percent) {
  const double most = tolerance_percent;
  const double least = 100.0 * (1.0 / (1.0 + tolerance_percent / 100.0) - 1.0);
  return interval.least > most                                  ? Verdict::slower
         : interval.greatest < least                            ? Verdict::faster
         : interval.least >= least && interval.greatest <= most ? Verdict::equal
                                                                : Verdict::undecided;
}

Verdict verdict_of(TrialEnd end, TrialEnd rivals_end) {
  return end == TrialEnd::untried          ? Verdict::gone
         : rivals_end == TrialEnd::untried ? Verdict::added
         : end == TrialEnd::timed          ? Verdict::repaired
         : rivals_end == TrialEnd::timed   ? Verdict::failed
                                           : Verdict::failing;
}

bool is_worse(const RivalCheck& check) {
  return check.verdict == Verdict::slower || check.verdict == Verdict::failed;
}

bool is_worse(const std::vector<RivalCheck>& checks) {
  return std::ranges::any_of(checks, [](const RivalCheck& check) { return is_worse(check); });
}

std::string shard_text(const Shard& shard) {
  return fmt::format("{}/{}",
                     joined(shard.numbers, ",", [](int number) { return std::to_string(number); }),
                     shard.count);
}

Shard parse_shard(std::string_view text) {
  Shard shard;
  std::string_view count = text;
  std::string_view numbers = take_until(count, '/');
  shard.count = whole_number<int>(count).value_or(0);
  while (!numbers.empty()) {
    shard.numbers.push_back(whole_number<int>(take_until(numbers, ',')).value_or(0));
    if (shard.numbers.back() < 1 || shard.numbers.back() > shard.count) {
      fail_shard(text);
    }
  }
  if (shard.numbers.empty() || shard.count > kMostShards) {
    fail_shard(text);
  }
  return shard;
}

std::vector<std::string> all_emulation_checks() {
  return {kEmulationChecks.begin(), kEmulationChecks.end()};
}

std::string title(const EmulatedFinding& finding) {
  return finding.check == finding.kind
             ? fmt::format("{}: {}", finding.check, finding.text)
             : fmt::format("{}: {}: {}", finding.check, finding.kind, finding.text);
}

std::vector<std::string> parse_emulation_checks(std::string_view text) {
  if (text == "all") {
    return all_emulation_checks();
  }
  std::vector<std::string_view> named;
  do {
    const std::string_view name = take_until(text, ',');
    if (!is_among(name, kEmulationChecks)) {
      throw Error(ExitCode::usage, fmt::format("'{}' is not a check", name), "--check",
                  fmt::format("choose from {}, or all", fmt::join(kEmulationChecks, ", ")));
    }
    named.push_back(name);
  } while (!text.empty());
  std::vector<std::string> checks;
  for (const std::string_view check : kEmulationChecks) {
    if (is_among(check, named)) {
      checks.emplace_back(check);
    }
  }
  return checks;
}

}  // namespace fatune

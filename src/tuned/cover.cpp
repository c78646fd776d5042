#include "tuned/cover.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "core/ranges.hpp"
#include "tuned/smallest_cover.hpp"

namespace fatune {
namespace {

/// Regrets of a row that are small enough, by configuration.
using Regrets = std::map<Config, double>;

Regrets small_regrets(const TunedProblem& row, double percent) {
  const double most = std::max(percent, row.times.front().regret_percent);
  Regrets regrets;
  for (const TunedTime& time : row.times) {
    if (time.regret_percent <= most) {
      regrets.emplace(time.config, time.regret_percent);
    }
  }
  return regrets;
}

/// Rows and the configurations that are good enough on some of them.
struct Part {
  std::vector<Regrets> rows;
  std::set<Config> configs;

  void take(Part&& other) {
    std::ranges::move(other.rows, std::back_inserter(rows));
    configs.merge(other.configs);
  }
  [[nodiscard]] bool shares_with(const Part& other) const {
    return std::ranges::any_of(other.configs,
                               [&](const Config& config) { return configs.contains(config); });
  }
};

/// Splits the rows into parts that share no configuration.
std::vector<Part> separate(const TunedTable& table, double percent) {
  std::vector<Part> parts;
  for (const TunedProblem& row : table.problems) {
    Part joined{{small_regrets(row, percent)}, {}};
    for (const auto& [config, regret] : joined.rows.front()) {
      joined.configs.insert(config);
    }
    for (auto part = parts.begin(); part != parts.end();) {
      if (part->shares_with(joined)) {
        joined.take(std::move(*part));
        part = parts.erase(part);
      } else {
        ++part;
      }
    }
    parts.push_back(std::move(joined));
  }
  return parts;
}

/// A configuration with its cost on each row of its part.
struct Candidate {
  Config config;
  std::vector<double> costs;

  /// Whether it is at least as good on every row.
  [[nodiscard]] bool replaces(const Candidate& other) const {
    return std::ranges::equal(costs, other.costs, std::less_equal<>());
  }
};

Candidate candidate(const Config& config, const Part& part) {
  Candidate made{config, {}};
  for (const Regrets& row : part.rows) {
    const auto regret = row.find(config);
    made.costs.push_back(regret == row.end() ? kNotServed : regret->second);
  }
  return made;
}

/// The candidates that no other one replaces; of equal ones the first.
std::vector<Candidate> candidates_of(const Part& part) {
  std::vector<Candidate> kept;
  for (const Config& config : part.configs) {
    Candidate made = candidate(config, part);
    if (std::ranges::none_of(kept, [&](const auto& by) { return by.replaces(made); })) {
      std::erase_if(kept, [&](const auto& earlier) { return made.replaces(earlier); });
      kept.push_back(std::move(made));
    }
  }
  return kept;
}

ServingCosts costs_of(const std::vector<Candidate>& candidates, std::size_t rows) {
  ServingCosts costs(rows);
  for (const Candidate& one : candidates) {
    for (std::size_t row = 0; row < rows; ++row) {
      costs[row].push_back(one.costs[row]);
    }
  }
  return costs;
}

/// Adds the part's cover. Returns whether it is exact.
bool add_cover(const Part& part, std::size_t most_exact, std::vector<Config>& cover) {
  const std::vector<Candidate> candidates = candidates_of(part);
  const ServingCosts costs = costs_of(candidates, part.rows.size());
  const auto smallest = candidates.size() <= most_exact ? smallest_cover(costs) : std::nullopt;
  for (const std::size_t chosen : smallest ? *smallest : greedy_cover(costs)) {
    cover.push_back(candidates[chosen].config);
  }
  return smallest.has_value();
}

std::set<Config> winners_of(const TunedTable& table) {
  std::set<Config> winners;
  for (const TunedProblem& row : table.problems) {
    winners.insert(row.times.front().config);
  }
  return winners;
}

/// The regrets of a configuration on the rows on which it is the best.
CoveringConfig standing_of(const Config& config, const TunedTable& covered) {
  CoveringConfig standing{config, {}, 0, 0.0, 0.0};
  double logs = 0.0;
  for (const TunedProblem& row : covered.problems) {
    const auto time = row.find(config);
    if (time != row.times.end()) {
      standing.short_form = time->short_form;
    }
    if (time == row.times.begin()) {
      ++standing.problems;
      logs += std::log1p(time->regret_percent / 100.0);
      standing.worst_regret_percent = std::max(standing.worst_regret_percent, time->regret_percent);
    }
  }
  standing.mean_regret_percent =
      100.0 * std::expm1(logs / static_cast<double>(std::max<std::size_t>(standing.problems, 1)));
  return standing;
}

}  // namespace

Cover find_cover(const TunedTable& table, double percent, std::size_t most_exact) {
  Cover cover{percent, true, winners_of(table).size(), {}};
  std::vector<Config> configs;
  for (const Part& part : separate(table, percent)) {
    cover.exact &= add_cover(part, most_exact, configs);
  }
  std::ranges::sort(configs);
  const TunedTable covered = restricted_to(table, configs);
  for (const Config& config : configs) {
    cover.configs.push_back(standing_of(config, covered));
  }
  return cover;
}

std::vector<Config> winners_and_defaults(const TunedTable& table) {
  std::set<Config> configs = winners_of(table);
  for (const DefaultConfig& known : table.defaults) {
    configs.insert(known.config);
  }
  return {configs.begin(), configs.end()};
}

TunedTable restricted_to(const TunedTable& table, const std::vector<Config>& configs) {
  TunedTable rest = table;
  for (TunedProblem& row : rest.problems) {
    std::erase_if(row.times,
                  [&](const TunedTime& time) { return !is_among(time.config, configs); });
  }
  std::erase_if(rest.problems, [](const TunedProblem& row) { return row.times.empty(); });
  finish_table(rest);
  return rest;
}

TunedTable restricted_to(const TunedTable& table, const Cover& cover) {
  return restricted_to(table, mapped(cover.configs, &CoveringConfig::config));
}

}  // namespace fatune

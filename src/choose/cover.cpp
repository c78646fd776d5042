#include "choose/cover.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <lpsolve/lp_lib.h>

#include "base/error.hpp"
#include "base/ranges.hpp"

// The only user of lp_solve.

namespace fatune {
namespace {

using Model = std::unique_ptr<lprec, decltype(&delete_lp)>;

/// A sum of terms. The columns of a model count from 1.
struct Terms {
  std::vector<double> factors;
  std::vector<int> columns;

  void add(double factor, int column) {
    factors.push_back(factor);
    columns.push_back(column);
  }
  [[nodiscard]] int size() const { return static_cast<int>(columns.size()); }
};

void require(bool holds) {
  if (!holds) {
    throw std::runtime_error("lp_solve rejects the model of a cover");
  }
}

void constrain(const Model& model, Terms terms, int relation, double right_side) {
  require(add_constraintex(model.get(), terms.size(), terms.factors.data(), terms.columns.data(),
                           relation, right_side) != 0);
}

/// The model has a column for each candidate (1: it is chosen), followed by one for each row and
/// each candidate that serves it (1: it does).
class CoverModel {
 public:
  explicit CoverModel(const ServingCosts& costs)
      : costs_(costs), candidates_(static_cast<int>(costs.front().size())) {
    for (std::size_t row = 0; row < costs.size(); ++row) {
      for (int candidate = 0; candidate < candidates_; ++candidate) {
        if (const double cost = costs[row].at(static_cast<std::size_t>(candidate));
            cost != kNotServed) {
          servings_.push_back({row, candidate, cost});
        }
      }
    }
  }

  std::optional<std::vector<std::size_t>> solve(long limit_s) {
    const Model model(make_lp(0, candidates_ + static_cast<int>(servings_.size())), delete_lp);
    require(model != nullptr);
    set_verbose(model.get(), NEUTRAL);
    set_timeout(model.get(), limit_s);
    set_mip_gap(model.get(), 1, 0.0);
    set_mip_gap(model.get(), 0, 0.0);
    for (int candidate = 1; candidate <= candidates_; ++candidate) {
      set_binary(model.get(), candidate, 1);
    }
    set_constraints(model);
    set_costs(model);
    if (::solve(model.get()) != OPTIMAL) {
      return std::nullopt;
    }
    return chosen(model);
  }

 private:
  struct Serving {
    std::size_t row;
    int candidate;
    double cost;
  };

  [[nodiscard]] int column_of(std::size_t serving) const {
    return candidates_ + static_cast<int>(serving) + 1;
  }

  /// Each row is served once, and only by chosen candidates.
  void set_constraints(const Model& model) const {
    set_add_rowmode(model.get(), 1);
    std::vector<Terms> served(costs_.size());
    for (std::size_t i = 0; i < servings_.size(); ++i) {
      served[servings_[i].row].add(1.0, column_of(i));
      Terms only_if_chosen;
      only_if_chosen.add(1.0, servings_[i].candidate + 1);
      only_if_chosen.add(-1.0, column_of(i));
      constrain(model, std::move(only_if_chosen), GE, 0.0);
    }
    for (Terms& row : served) {
      constrain(model, std::move(row), EQ, 1.0);
    }
    set_add_rowmode(model.get(), 0);
  }

  /// One more candidate costs more than all servings can.
  void set_costs(const Model& model) const {
    double of_a_candidate = 1.0;
    Terms terms;
    for (std::size_t i = 0; i < servings_.size(); ++i) {
      of_a_candidate += servings_[i].cost;
      terms.add(servings_[i].cost, column_of(i));
    }
    for (int candidate = 1; candidate <= candidates_; ++candidate) {
      terms.add(of_a_candidate, candidate);
    }
    require(set_obj_fnex(model.get(), terms.size(), terms.factors.data(), terms.columns.data()) !=
            0);
  }

  [[nodiscard]] std::vector<std::size_t> chosen(const Model& model) const {
    std::vector<double> values(static_cast<std::size_t>(get_Ncolumns(model.get())));
    require(get_variables(model.get(), values.data()) != 0);
    return filtered(std::views::iota(std::size_t{0}, static_cast<std::size_t>(candidates_)),
                    [&](std::size_t i) { return values[i] > 0.5; });
  }

  const ServingCosts& costs_;
  int candidates_;
  std::vector<Serving> servings_;
};

/// The rows not yet served that a candidate serves, and its cost on them.
struct Gain {
  std::size_t rows = 0;
  double cost = 0.0;

  [[nodiscard]] bool exceeds(const Gain& other) const {
    return rows > other.rows || (rows == other.rows && cost < other.cost);
  }
};

Gain gain_of(std::size_t candidate, const ServingCosts& unserved) {
  Gain gain;
  for (const std::vector<double>& row : unserved) {
    if (row[candidate] != kNotServed) {
      ++gain.rows;
      gain.cost += row[candidate];
    }
  }
  return gain;
}

std::size_t best_candidate(const ServingCosts& unserved) {
  std::size_t best = 0;
  for (std::size_t candidate = 1; candidate < unserved.front().size(); ++candidate) {
    if (gain_of(candidate, unserved).exceeds(gain_of(best, unserved))) {
      best = candidate;
    }
  }
  return best;
}

/// Microseconds of all calls of a row with the fastest that was measured; 0: they are not known.
double calls_us(const TunedProblem& row) {
  const TunedTime& first = row.times.front();
  return row.calls.value_or(0.0) * first.time_us / (1.0 + first.regret_percent / 100.0);
}

/// The weight of a row's regrets: by the time of its calls, 1 in the mean. Rows without calls have
/// 1.
class RowWeights {
 public:
  explicit RowWeights(const TunedTable& table) {
    double sum = 0.0;
    double rows = 0.0;
    for (const TunedProblem& row : table.problems) {
      sum += calls_us(row);
      rows += row.calls ? 1.0 : 0.0;
    }
    mean_us_ = sum / std::max(rows, 1.0);
  }
  [[nodiscard]] double of(const TunedProblem& row) const {
    return row.calls ? calls_us(row) / mean_us_ : 1.0;
  }

 private:
  double mean_us_ = 0.0;
};

/// Weighted regrets of a row that are small enough, by configuration.
using Regrets = std::map<Config, double>;

Regrets small_regrets(const TunedProblem& row, double percent, double weight) {
  const double most = std::max(percent, row.times.front().regret_percent);
  Regrets regrets;
  for (const TunedTime& time : row.times) {
    if (time.regret_percent <= most) {
      regrets.emplace(time.config, weight * time.regret_percent);
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
  const RowWeights weights(table);
  std::vector<Part> parts;
  for (const TunedProblem& row : table.problems) {
    Part joined{{small_regrets(row, percent, weights.of(row))}, {}};
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
  return {config, mapped(part.rows, [&](const Regrets& row) {
            const double* const regret = value_at(row, config);
            return regret == nullptr ? kNotServed : *regret;
          })};
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

/// All rows, with all configurations that have a time.
Part joined_rows(const TunedTable& table) {
  Part all;
  for (Part& part : separate(table, kNotServed)) {
    all.take(std::move(part));
  }
  return all;
}

Cover made_cover(const TunedTable& table, std::optional<double> percent, bool exact,
                 std::vector<Config> configs) {
  std::ranges::sort(configs);
  const TunedTable covered = restricted_to(table, configs);
  Cover cover{percent, exact, winners_of(table).size(), {}};
  cover.configs =
      mapped(configs, [&](const Config& config) { return standing_of(config, covered); });
  cover.winners_us = sum_of<double>(table.problems, calls_us);
  cover.total_us = sum_of<double>(covered.problems, [](const TunedProblem& row) {
    return row.calls.value_or(0.0) * row.times.front().time_us;
  });
  return cover;
}

}  // namespace

std::optional<std::vector<std::size_t>> smallest_cover(const ServingCosts& costs, long limit_s) {
  return CoverModel(costs).solve(limit_s);
}

std::vector<std::size_t> greedy_cover(const ServingCosts& costs) {
  ServingCosts unserved = costs;
  std::vector<std::size_t> chosen;
  while (!unserved.empty()) {
    const std::size_t best = best_candidate(unserved);
    chosen.push_back(best);
    std::erase_if(unserved, [&](const auto& row) { return row[best] != kNotServed; });
  }
  std::ranges::sort(chosen);
  return chosen;
}

std::vector<GrownCover> grow_cover(const ServingCosts& costs, std::size_t most) {
  std::vector<double> least(costs.size(), kNotServed);  // of each row with the set
  const auto with = [&](std::size_t candidate) {
    GrownCover grown{candidate};
    for (std::size_t row = 0; row < costs.size(); ++row) {
      const double cost = std::min(least[row], costs[row][candidate]);
      grown.not_served += cost == kNotServed ? 1U : 0U;
      grown.cost += cost == kNotServed ? 0.0 : cost;
    }
    return grown;
  };
  const auto standing = [](const GrownCover& grown) {
    return std::pair(grown.not_served, grown.cost);
  };
  std::pair last(costs.size(), 0.0);
  std::vector<GrownCover> steps;
  while (!costs.empty() && steps.size() < most) {
    const auto all = mapped(indices_of(costs.front()), with);
    const GrownCover& best = *std::ranges::min_element(all, {}, standing);
    if (standing(best) >= last) {
      break;
    }
    last = standing(best);
    steps.push_back(best);
    for (std::size_t row = 0; row < costs.size(); ++row) {
      least[row] = std::min(least[row], costs[row][best.added]);
    }
  }
  return steps;
}

Cover find_few(const TunedTable& table, std::size_t most) {
  const Part all = joined_rows(table);
  const std::vector<Candidate> candidates = candidates_of(all);
  const std::vector<GrownCover> grown = grow_cover(costs_of(candidates, all.rows.size()), most);
  if (const std::size_t left = grown.empty() ? 0 : grown.back().not_served; left > 0) {
    throw Error(
        ExitCode::usage,
        fmt::format("with {} at most, {} of the {} problems have no configuration", most, left,
                    all.rows.size()),
        "--max-configs",
        "allow more: a configuration serves problems of one element type and head dimension");
  }
  return made_cover(table, std::nullopt, false, mapped(grown, [&](const GrownCover& step) {
                      return candidates[step.added].config;
                    }));
}

Cover find_cover(const TunedTable& table, double percent, std::size_t most_exact) {
  std::vector<Config> configs;
  bool exact = true;
  for (const Part& part : separate(table, percent)) {
    exact &= add_cover(part, most_exact, configs);
  }
  return made_cover(table, percent, exact, std::move(configs));
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
    // A race may rank a configuration behind slower ones that it did not compare it with.
    std::ranges::stable_sort(row.times, {}, &TunedTime::regret_percent);
  }
  std::erase_if(rest.problems, [](const TunedProblem& row) { return row.times.empty(); });
  finish_table(rest);
  return rest;
}

TunedTable restricted_to(const TunedTable& table, const Cover& cover) {
  const std::vector<Config> configs = mapped(cover.configs, &CoveringConfig::config);
  TunedTable rest = restricted_to(table, configs);
  std::erase_if(rest.fits,
                [&](const FittedTime& fitted) { return !is_among(fitted.config, configs); });
  return rest;
}

}  // namespace fatune

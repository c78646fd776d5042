// The only user of lp_solve.
#include "tuned/smallest_cover.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <stdexcept>

#include <lpsolve/lp_lib.h>

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
    set_choices(model);
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

  void set_choices(const Model& model) const {
    for (int candidate = 1; candidate <= candidates_; ++candidate) {
      set_binary(model.get(), candidate, 1);
    }
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
    std::vector<std::size_t> candidates;
    for (std::size_t i = 0; i < static_cast<std::size_t>(candidates_); ++i) {
      if (values[i] > 0.5) {
        candidates.push_back(i);
      }
    }
    return candidates;
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

}  // namespace fatune

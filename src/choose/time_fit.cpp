#include "choose/time_fit.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <tuple>
#include <utility>

#include <Eigen/Cholesky>
#include <Eigen/Core>

#include "base/ranges.hpp"
#include "base/task_pool.hpp"
#include "plan/estimate_rule.hpp"
#include "plan/planner.hpp"

namespace fatune {
namespace {

namespace runtime = fatune_attention::detail;
using runtime::ModelTime;
using runtime::TimeFit;

/// A GPU, and a kernel_kind().
using Group = std::pair<GpuModel, runtime::Kind>;

Group group_of(const TunedProblem& row) { return {row.gpu, kernel_kind(row)}; }

using Rows = std::vector<const TunedProblem*>;

std::map<Group, Rows> grouped(const std::vector<TunedProblem>& rows) {
  std::map<Group, Rows> groups;
  for (const TunedProblem& row : rows) {
    groups[group_of(row)].push_back(&row);
  }
  return groups;
}

// Standard deviations of logarithms, as far as nothing is known of them.
constexpr double kOfTime = 0.015;  // what the model leaves of one measured time, besides the noise
// Standard errors that the noise of a time counts as: 1.25 of them are that of a median, and a race
// eliminates a configuration after few samples when these happen to be long.
constexpr double kOfNoise = 4.0;
constexpr double kOfRow = 0.05;  // what all configurations have in common on a row: clocks, memory
constexpr double kOfSlope = 0.02;
constexpr double kOfLevel = 10.0;
constexpr double kUsualTimes = 4.0;  // as many as kOfTime counts as, beside what a fit leaves
constexpr std::array<double, ModelTime::kParts> kOfParts{0.04, 0.1, 0.1, 0.3};
constexpr double kUsualLogClocks = 11.512925464970229;  // of 1e5

constexpr Eigen::Index kParts = ModelTime::kParts;
using PartVector = Eigen::Matrix<double, kParts, 1>;
using PartMatrix = Eigen::Matrix<double, kParts, kParts>;

double weight_of(double deviation) { return 1.0 / (deviation * deviation); }

/// One time as an equation: y = level + slope * log_clocks + row's + configuration's * parts. Level
/// and slope are a family's.
struct Equation {
  Eigen::Index row = 0;
  PartVector parts;
  double log_clocks = 0.0;  ///< relative to the usual ones
  double y = 0.0;
  double weight = 0.0;
  bool at_least = false;  ///< the right side is this or more
  bool counts = false;    ///< false: it is at least this already

  Equation(Eigen::Index of_row, const KnownTime& known)
      : row(of_row),
        parts(known.model.parts.data()),
        log_clocks(std::log(known.model.clocks) - kUsualLogClocks),
        y(std::log(known.us / known.model.clocks)),
        weight(weight_of(std::hypot(kOfTime, kOfNoise * known.noise))),
        at_least(known.at_least) {}
};

/// What one fit is made of, and its coefficients.
struct Fitted {
  Eigen::Index family = 0;
  std::vector<Equation> equations{};
  PartVector parts = PartVector::Zero();
};
using FittedByLike = std::map<std::size_t, Fitted>;  ///< by KnownTime::like

/// Fits the times of configurations in one group by least squares. Each coefficient is 0 as far as
/// times do not say otherwise. What configurations share, level and slope of a family and a number
/// for each row, are found first: with these, the coefficients of configurations are independent of
/// each other. Families have the rows' numbers in common, so that a row with times of several says
/// which of them is the faster one.
class GroupFit {
 public:
  /// families, rows: how many the equations are of
  GroupFit(std::size_t families, std::size_t rows, FittedByLike fits)
      : families_(static_cast<Eigen::Index>(families)),
        fits_(std::move(fits)),
        shared_(Eigen::VectorXd::Zero(2 * families_ + static_cast<Eigen::Index>(rows))) {
    std::erase_if(fits_, [](const auto& one) {
      return std::ranges::all_of(one.second.equations, &Equation::at_least);
    });
    // A configuration that lost a race counts where it would be predicted to win it.
    constexpr int kMostRounds = 6;
    for (int round = 0; round < kMostRounds && change_what_counts(); ++round) {
      solve();
    }
  }

  /// By KnownTime::like.
  [[nodiscard]] std::map<std::size_t, TimeFit> fits() const {
    std::map<std::size_t, TimeFit> fits;
    for (const auto& [number, fitted] : fits_) {
      const Eigen::Index level = level_of(fitted);
      TimeFit& fit = fits[number];
      // Of many configurations, the least time would often be one that is predicted too short.
      constexpr double kDeviations = 0.5;
      fit.log_us = shared_(level) - shared_(level + 1) * kUsualLogClocks +
                   kDeviations * deviation_of(fitted);
      fit.log_slope = 1.0 + shared_(level + 1);
      std::ranges::copy(fitted.parts, fit.parts.begin());
    }
    return fits;
  }

 private:
  /// The normal equations of one fit.
  struct Normal {
    PartMatrix own = PartMatrix::Zero();
    std::vector<Eigen::Index> places{};  ///< of the shared coefficients that it depends on
    Eigen::Matrix<double, kParts, Eigen::Dynamic> with_shared{};
    PartVector right = PartVector::Zero();
  };

  /// The place of a fit's level among the shared coefficients; that of its slope is next.
  static Eigen::Index level_of(const Fitted& fitted) { return 2 * fitted.family; }
  [[nodiscard]] Eigen::Index row_of(const Equation& equation) const {
    return 2 * families_ + equation.row;
  }
  /// What a fit says of the left side of one of its equations.
  [[nodiscard]] double fitted_y(const Fitted& fitted, const Equation& one) const {
    const Eigen::Index level = level_of(fitted);
    return shared_(level) + shared_(level + 1) * one.log_clocks + shared_(row_of(one)) +
           fitted.parts.dot(one.parts);
  }

  /// The standard deviation of what a fit leaves of its times.
  [[nodiscard]] double deviation_of(const Fitted& fitted) const {
    double squares = kUsualTimes * kOfTime * kOfTime;
    double times = kUsualTimes;
    for (const Equation& one : fitted.equations) {
      if (!one.at_least) {
        squares += std::pow(one.y - fitted_y(fitted, one), 2);
        times += 1.0;
      }
    }
    return std::sqrt(squares / times);
  }

  /// Returns whether other equations count than before.
  bool change_what_counts() {
    bool changed = false;
    for (auto& [number, fitted] : fits_) {
      for (Equation& one : fitted.equations) {
        const bool counted =
            std::exchange(one.counts, !one.at_least || fitted_y(fitted, one) < one.y);
        changed |= counted != one.counts;
      }
    }
    return changed;
  }

  void solve() {
    const Eigen::Index size = shared_.size();
    Eigen::VectorXd prior = Eigen::VectorXd::Constant(size, weight_of(kOfRow));
    for (Eigen::Index i = 0; i < families_; ++i) {
      prior(2 * i) = weight_of(kOfLevel);
      prior(2 * i + 1) = weight_of(kOfSlope);
    }
    Eigen::MatrixXd left = prior.asDiagonal();
    Eigen::VectorXd right = Eigen::VectorXd::Zero(size);
    std::vector<Normal> normals;
    for (const auto& [number, fitted] : fits_) {
      Normal& normal = normals.emplace_back();
      add(fitted, normal, left, right);
      const auto own = normal.own.llt();
      left(normal.places, normal.places) -=
          normal.with_shared.transpose() * own.solve(normal.with_shared);
      right(normal.places) -= normal.with_shared.transpose() * own.solve(normal.right);
    }
    shared_ = left.llt().solve(right);
    auto normal = normals.begin();
    for (auto& [number, fitted] : fits_) {
      fitted.parts =
          normal->own.llt().solve(normal->right - normal->with_shared * shared_(normal->places));
      ++normal;
    }
  }

  [[nodiscard]] std::vector<Eigen::Index> places_of(const Fitted& fitted) const {
    const Eigen::Index level = level_of(fitted);
    std::vector<Eigen::Index> places{level, level + 1};
    for (const Equation& one : fitted.equations) {  // by rows
      if (one.counts && places.back() != row_of(one)) {
        places.push_back(row_of(one));
      }
    }
    return places;
  }

  void add(const Fitted& fitted, Normal& normal, Eigen::MatrixXd& left,
           Eigen::VectorXd& right) const {
    for (Eigen::Index i = 0; i < kParts; ++i) {
      normal.own(i, i) = weight_of(kOfParts.at(static_cast<std::size_t>(i)));
    }
    const Eigen::Index level = level_of(fitted);
    normal.places = places_of(fitted);
    normal.with_shared.setZero(kParts, std::ssize(normal.places));
    for (const Equation& one : fitted.equations) {
      if (!one.counts) {
        continue;
      }
      // The shared coefficients that the equation has, and their places among those of the fit.
      const Eigen::Array<Eigen::Index, 3, 1> places{level, level + 1, row_of(one)};
      const Eigen::Array<Eigen::Index, 3, 1> of_fit{
          0, 1, std::ranges::lower_bound(normal.places, row_of(one)) - normal.places.begin()};
      const Eigen::Vector3d shared{1.0, one.log_clocks, 1.0};
      left(places, places) += one.weight * shared * shared.transpose();
      right(places) += one.weight * one.y * shared;
      normal.own += one.weight * one.parts * one.parts.transpose();
      normal.with_shared(Eigen::all, of_fit) += one.weight * one.parts * shared.transpose();
      normal.right += one.weight * one.y * one.parts;
    }
  }

  Eigen::Index families_;
  FittedByLike fits_;
  Eigen::VectorXd shared_;  ///< level and slope of each family, then one for each row
};

/// The fits of all families, by KnownTime::like.
std::map<std::size_t, TimeFit> fit_families(const Rows& rows) {
  std::map<std::string, std::size_t> families;
  FittedByLike fits;
  std::vector<Fitted*> by_like;  // rows have many times: a name is looked up once a fit
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (const KnownTime& known : *rows[i]->known) {
      by_like.resize(std::max(by_like.size(), known.like + 1), nullptr);
      Fitted*& fitted = by_like[known.like];
      if (fitted == nullptr) {
        fitted = &fits[known.like];
        fitted->family = static_cast<Eigen::Index>(
            families.try_emplace(known.config.family, families.size()).first->second);
      }
      fitted->equations.emplace_back(static_cast<Eigen::Index>(i), known);
    }
  }
  return GroupFit(families.size(), rows.size(), std::move(fits)).fits();
}

/// What was measured on problems of a kind: of each fit and of each set of the parameters that fits
/// do not tell apart a configuration that has it.
struct Measured {
  std::map<std::size_t, const Config*> of_fit{};   ///< by KnownTime::like
  std::map<std::size_t, const Config*> of_rest{};  ///< by KnownTime::rest
  std::map<std::string, double> most_clocks{};     ///< of each family's model
};

/// A family's times are predicted up to so much longer than what was measured of it: beyond, its
/// model alone would say how it compares with others.
constexpr double kBeyondMeasured = 1.5;

/// By kind.
std::map<runtime::Kind, Measured> measured_in(const Rows& rows) {
  std::map<runtime::Kind, Measured> measured;
  for (const TunedProblem* row : rows) {
    Measured& of_kind = measured[kind_of(*row)];
    for (const KnownTime& known : *row->known) {
      if (!known.at_least && row->find(known.config) != row->times.end()) {
        of_kind.of_fit.try_emplace(known.like, &known.config);
        of_kind.of_rest.try_emplace(known.rest, &known.config);
        double& most_clocks = of_kind.most_clocks[known.config.family];
        most_clocks = std::max(most_clocks, known.model.clocks);
      }
    }
  }
  return measured;
}

/// Adds the fits of configurations that combine what was measured on a kind of problems.
void add_fits(const TunedTable& table, const Group& group, Rows rows,
              std::vector<FittedTime>& fits) {
  std::erase_if(rows, [](const TunedProblem* row) { return row->known == nullptr; });
  const std::map<runtime::Kind, Measured> measured = measured_in(rows);
  const std::map<std::size_t, TimeFit> fitted = fit_families(rows);
  for (const auto& [kind, of_kind] : measured) {
    for (const auto& [like, config] : of_kind.of_fit) {
      TimeFit fit = fitted.at(like);
      fit.most_clocks = kBeyondMeasured * of_kind.most_clocks.at(config->family);
      for (const auto& [rest, other] : of_kind.of_rest) {
        if (config->family == other->family) {
          fits.push_back(
              {group.first, kind, with_rest_of(table, *config, *other), like, rest, fit});
        }
      }
    }
  }
}

/// The relative standard error of a time. The winner has the most samples, so they say how far
/// those of any configuration are spread.
double noise_of(const TunedTime& winner, std::int64_t samples) {
  const auto count = static_cast<double>(std::max<std::int64_t>(1, samples));
  return winner.stddev_us / winner.time_us / std::sqrt(count);
}

bool is_of_other_type(const Problem& a, const Problem& b) {
  return same_work(a, changed(b, [&](Problem& other) { other.dtype = a.dtype; }));
}

/// The configuration with 0 in place of its element type, which configurations with one fit may
/// differ in.
Config without_dtype(const Family& family, Config config) {
  for (std::size_t i = 0; i < family.parameters.size(); ++i) {
    if (family.parameters[i].binds == ProblemProperty::dtype) {
      config.values[i] = 0;
    }
  }
  return config;
}

/// Numbers what fits tell apart of configurations, and the rest.
class FitNumbers {
 public:
  explicit FitNumbers(const TunedTable& table) : table_(table) {}

  void number(const Family& family, KnownTime& known) {
    const Config fitted = without_rest(table_, known.config);
    const Config zeros{family.name, std::vector<std::int64_t>(known.config.values.size())};
    known.like = number_of(without_dtype(family, fitted), fits_);
    known.rest = number_of(with_rest_of(table_, zeros, known.config), rests_);
  }

 private:
  using Numbers = std::map<Config, std::size_t>;

  static std::size_t number_of(const Config& config, Numbers& numbers) {
    return numbers.try_emplace(config, numbers.size()).first->second;
  }

  const TunedTable& table_;
  Numbers fits_;
  Numbers rests_;
};

bool has_models(const TunedProblem& row, const FamilySet& families) {
  return std::ranges::any_of(row.times, [&](const TunedTime& time) {
    return families.of(time.config).estimate.model.has_value();
  });
}

/// The longest time that the row lists of each family: of each, it lists the fastest. A family
/// without any may not have raced.
std::map<std::string, double> slowest_us(const TunedProblem& row) {
  std::map<std::string, double> slowest;
  for (const TunedTime& time : row.times) {
    double& us = slowest[time.config.family];
    us = std::max(us, time.time_us);
  }
  return slowest;
}

/// Configurations that lost the row's race, and take at least as long as the slowest of their
/// family that it lists. None, if there are more than can have lost: then they could not run, are
/// the same as others on this problem, or a search did not race them.
std::vector<KnownTime> lost_times(const TunedTable& table, const TunedProblem& row,
                                  const std::set<Config>& raced) {
  std::vector<KnownTime> lost;
  if (!table.origins.at(row.origin).complete) {
    return lost;
  }
  const std::map<std::string, double> slowest = slowest_us(row);
  for (const Config& config : raced) {
    const auto of_family = slowest.find(config.family);
    if (of_family != slowest.end() && row.find(config) == row.times.end()) {
      lost.push_back({config, 0, 0, {}, of_family->second, true, noise_of(row.times.front(), 1)});
    }
  }
  if (std::ssize(lost) > 2 * row.more_raced) {
    lost.clear();
  }
  return lost;
}

/// What is known of configurations on a row, beside their models. The results have no numbers yet.
/// raced: the configurations of the row's race
std::vector<KnownTime> known_times(const TunedTable& table, const TunedProblem& row,
                                   const std::set<Config>& raced, const FamilySet& families) {
  std::vector<KnownTime> known = lost_times(table, row, raced);
  for (const TunedTime& time : row.times) {
    known.push_back(
        {time.config, 0, 0, {}, time.time_us, false, noise_of(row.times.front(), time.samples)});
  }
  const DeviceLimits& device = table.gpus.at(row.gpu);
  std::erase_if(known, [&](KnownTime& one) {
    const Family& family = families.of(one.config);
    const auto model = check_valid(family, one.config, &row.problem, &device)
                           ? std::nullopt
                           : find_model_time({family, one.config, row.problem, device});
    one.model = model.value_or(ModelTime{});
    return !model;
  });
  return known;
}

}  // namespace

std::optional<ModelTime> find_model_time(const ConfigCase& of) {
  const auto model = time_model(of);
  return model ? std::optional(runtime::model_time(*model)) : std::nullopt;
}

void add_model_times(TunedTable& table, const FamilySet& families) {
  // By origin, GPU and what machine code is built for.
  std::map<std::tuple<std::size_t, GpuModel, runtime::Kind>, std::set<Config>> raced;
  const auto race_of = [](const TunedProblem& row) {
    return std::tuple(row.origin, row.gpu, runtime::without_masks(kind_of(row)));
  };
  for (const TunedProblem& row : table.problems) {
    for (const TunedTime& time : row.times) {
      raced[race_of(row)].insert(time.config);
    }
  }
  for (const Family& family : families.all()) {
    if (family.estimate.model) {
      table.not_fitted[family.name] = family.estimate.model->not_fitted;
    }
  }
  FitNumbers numbers(table);
  std::vector<std::vector<KnownTime>> known(table.problems.size());
  for_each_index(known.size(), usable_cores(), [&](std::size_t i) {
    const TunedProblem& row = table.problems[i];
    if (has_models(row, families)) {
      known[i] = known_times(table, row, raced.at(race_of(row)), families);
    }
  });
  for (std::size_t i = 0; i < known.size(); ++i) {
    TunedProblem& row = table.problems[i];
    if (!has_models(row, families)) {
      continue;
    }
    for (KnownTime& time : known[i]) {
      numbers.number(families.of(time.config), time);
    }
    row.known = std::make_shared<const std::vector<KnownTime>>(std::move(known[i]));
  }
}

std::vector<FittedTime> fit_times(const TunedTable& table) {
  std::vector<FittedTime> fits;
  for (const auto& [group, of_group] : grouped(table.problems)) {
    add_fits(table, group, of_group, fits);
  }
  return fits;
}

std::vector<FittedTime> fit_times_without(const TunedTable& table, const TunedProblem& row) {
  const Group group = group_of(row);
  Rows others;
  for (const TunedProblem& other : table.problems) {
    if (group_of(other) == group && !is_of_other_type(row.problem, other.problem)) {
      others.push_back(&other);
    }
  }
  std::vector<FittedTime> fits;
  add_fits(table, group, others, fits);
  return fits;
}

}  // namespace fatune

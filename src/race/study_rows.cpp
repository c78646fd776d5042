#include "race/study_rows.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <variant>

#include "base/ranges.hpp"
#include "base/text_parts.hpp"
#include "model/measure_policy.hpp"
#include "model/outcome.hpp"

namespace fatune {
namespace {

/// Returns `count` of `all` places: the first places for half of them, then evenly spaced ones.
std::vector<std::size_t> sampled_places(std::size_t all, std::size_t count) {
  std::vector<std::size_t> places;
  const std::size_t first = count >= all ? all : (count + 1) / 2;
  for (std::size_t i = 0; i < first; ++i) {
    places.push_back(i);
  }
  const std::size_t spread = std::min(count, all) - first;
  for (std::size_t i = 0; i < spread; ++i) {
    places.push_back(first + (i + 1) * (all - first) / spread - 1);
  }
  return places;
}

void add_rows(const RunReport& run, const ProblemReport& problem, std::size_t count,
              StudyRows& rows) {
  if (problem.ranking.empty()) {
    return;
  }
  const double least_us = ranked_us(problem.ranking.front().outcome);
  for (const std::size_t place : sampled_places(problem.ranking.size(), count)) {
    const Result& result = problem.ranking[place];
    rows.rows.push_back({static_cast<std::int64_t>(rows.rows.size()), &run, &problem, &result,
                         100.0 * (ranked_us(result.outcome) / least_us - 1.0)});
  }
}

/// Returns the samples that the race took of a configuration, or null if it took none.
const Timing* raced_timing(const Result& result) {
  const auto* measured = std::get_if<Measured>(&result.outcome);
  return measured != nullptr && !result.reused && result.same_code_as.empty() ? &measured->timing
                                                                              : nullptr;
}

constexpr std::size_t kMostValuesInAllPairs = 16;

/// Class numbers of a group's results. Results that are equal in some respect have equal numbers.
using Classes = std::vector<std::uint32_t>;

/// Numbers keys in the order of their first occurrence.
template <typename Key>
class Numbering {
 public:
  std::uint32_t operator()(const Key& key) {
    return numbers_.try_emplace(key, static_cast<std::uint32_t>(numbers_.size())).first->second;
  }

 private:
  std::unordered_map<Key, std::uint32_t> numbers_;
};

std::uint64_t both(std::uint32_t first, std::uint32_t second) {
  return std::uint64_t{first} << 32 | second;
}

/// The classes of results that are equal in both respects.
Classes intersected(const Classes& first, const Classes& second) {
  Numbering<std::uint64_t> number;
  Classes classes;
  for (std::size_t i = 0; i < first.size(); ++i) {
    classes.push_back(number(both(first[i], second[i])));
  }
  return classes;
}

/// The ranked results of one family on one problem, with parameters of the same names.
struct Group {
  const ProblemReport* problem;
  std::vector<const Result*> results;
  std::vector<Classes> before{};  ///< classes by the parameters before each one
  std::vector<Classes> behind{};  ///< classes by the parameters after each one

  [[nodiscard]] const std::vector<NamedValue>& parameters() const {
    return results.front()->parameters;
  }
  /// Returns equal numbers for results that are equal in all parameters but `parameter`.
  [[nodiscard]] std::uint64_t others(std::size_t result, std::size_t parameter) const {
    return both(before[parameter][result], behind[parameter][result]);
  }
};

Classes value_classes(const Group& group, std::size_t parameter) {
  Numbering<std::string> number;
  return mapped(group.results,
                [&](const Result* result) { return number(result->parameters[parameter].text); });
}

void classify(Group& group) {
  const std::size_t parameters = group.parameters().size();
  const Classes all_equal(group.results.size(), 0);
  std::vector<Classes> values;
  group.before.assign(parameters, all_equal);
  group.behind.assign(parameters, all_equal);
  for (std::size_t p = 0; p < parameters; ++p) {
    values.push_back(value_classes(group, p));
  }
  for (std::size_t p = 1; p < parameters; ++p) {
    const std::size_t q = parameters - p;
    group.before[p] = intersected(group.before[p - 1], values[p - 1]);
    group.behind[q - 1] = intersected(group.behind[q], values[q]);
  }
}

void add_groups(const ProblemReport& problem, std::vector<Group>& groups) {
  const std::size_t first = groups.size();
  for (const Result& result : problem.ranking) {
    if (const double us = ranked_us(result.outcome); std::isfinite(us) && us > 0.0) {
      const auto is_comparable = [&](const Group& group) {
        const Result& other = *group.results.front();
        return other.config.family == result.config.family &&
               std::ranges::equal(other.parameters, result.parameters, {}, &NamedValue::name,
                                  &NamedValue::name);
      };
      auto found = std::find_if(groups.begin() + static_cast<std::ptrdiff_t>(first), groups.end(),
                                is_comparable);
      found = found == groups.end() ? groups.insert(found, Group{&problem, {}}) : found;
      found->results.push_back(&result);
    }
  }
}

std::vector<Group> make_groups(const std::vector<RunReport>& runs) {
  std::vector<Group> groups;
  for (const RunReport& run : runs) {
    for (const ProblemReport& problem : run.problems) {
      add_groups(problem, groups);
    }
  }
  std::ranges::for_each(groups, classify);
  return groups;
}

/// Collects the effects of one parameter, group by group.
class Study {
 public:
  Study(std::string parameter, const std::set<std::string, NaturalOrder>& values)
      : parameter_(std::move(parameter)),
        values_(values.begin(), values.end()),
        slower_(values_.size()) {}

  void add(const Group& group, std::size_t parameter) {
    const double first_us = ranked_us(group.problem->ranking.front().outcome);
    std::vector<Tried> all;
    for (std::size_t i = 0; i < group.results.size(); ++i) {
      const Result& result = *group.results[i];
      const std::size_t value = place_of(result.parameters[parameter].text);
      slower_[value].push_back(100.0 * (ranked_us(result.outcome) / first_us - 1.0));
      all.push_back({group.others(i, parameter), value, i, ranked_us(result.outcome)});
    }
    std::ranges::sort(all, {},
                      [](const Tried& t) { return std::tuple(t.others, t.value, t.place); });
    compare_like_ones(all);
  }

  [[nodiscard]] ParameterStudy finish() {
    ParameterStudy study{parameter_, {}, {}};
    for (std::size_t i = 0; i < values_.size(); ++i) {
      study.values.push_back({values_[i], slower_[i].size(), five_numbers(std::move(slower_[i]))});
    }
    std::vector<double> sizes;
    for (auto& [pair, changes] : change_percent_) {
      const auto& [apart, from, to] = pair;
      const auto faster = std::ranges::count_if(changes, [](double c) { return c < 0.0; });
      std::ranges::transform(changes, std::back_inserter(sizes),
                             [](double c) { return std::abs(c); });
      study.pairs.push_back({values_[from], values_[to], changes.size(),
                             static_cast<std::size_t>(faster), five_numbers(std::move(changes))});
    }
    study.change_percent = sizes.empty() ? 0.0 : five_numbers(std::move(sizes)).median;
    return study;
  }

 private:
  struct Tried {
    std::uint64_t others;  ///< see Group::others()
    std::size_t value;
    std::size_t place;
    double us;
  };
  using Pair = std::tuple<bool, std::size_t, std::size_t>;  ///< not neighbours, from, to

  [[nodiscard]] std::size_t place_of(const std::string& text) const {
    const auto found = std::ranges::lower_bound(values_, text, NaturalOrder{});
    return static_cast<std::size_t>(found - values_.begin());
  }

  /// Precondition: `all` is sorted.
  void compare_like_ones(const std::vector<Tried>& all) {
    std::vector<Tried> like;  // equal except for the parameter; values ascend
    for (const Tried& tried : all) {
      if (!like.empty() && like.back().others != tried.others) {
        like.clear();
      }
      if (like.empty() || like.back().value != tried.value) {
        compare(like, tried);
        like.push_back(tried);
      }
    }
  }

  void compare(const std::vector<Tried>& lower, const Tried& tried) {
    for (const Tried& from : lower) {
      const bool apart = tried.value - from.value > 1;
      if (!apart || values_.size() <= kMostValuesInAllPairs) {
        change_percent_[{apart, from.value, tried.value}].push_back(100.0 *
                                                                    (tried.us / from.us - 1.0));
      }
    }
  }

  std::string parameter_;
  std::vector<std::string> values_;
  std::vector<std::vector<double>> slower_;  ///< indexed by value
  std::map<Pair, std::vector<double>> change_percent_;
};

/// The values of each parameter.
std::map<std::string, std::set<std::string, NaturalOrder>> values_of(
    const std::vector<Group>& groups) {
  std::map<std::string, std::set<std::string, NaturalOrder>> values;
  for (const Group& group : groups) {
    for (const Result* result : group.results) {
      for (const auto& [name, text] : result->parameters) {
        values[name].insert(text);
      }
    }
  }
  return values;
}

}  // namespace

StudyRows study_rows(const std::vector<RunReport>& runs, std::size_t most) {
  StudyRows rows;
  for (const RunReport& run : runs) {
    for (const ProblemReport& problem : run.problems) {
      rows.all += problem.ranking.size();
    }
  }
  for (const RunReport& run : runs) {
    for (const ProblemReport& problem : run.problems) {
      // The same share for all problems, at least one result.
      const std::size_t ranked = problem.ranking.size();
      const std::size_t count =
          rows.all <= most ? ranked : std::max<std::size_t>(1, ranked * most / rows.all);
      add_rows(run, problem, count, rows);
    }
  }
  return rows;
}

std::vector<RoundOfRace> race_course(const ProblemReport& problem) {
  std::size_t contenders = 0;
  std::map<int, std::size_t> eliminated;
  for (const Result& result : problem.ranking) {
    if (const Timing* timing = raced_timing(result)) {
      ++contenders;
      if (const auto round = elimination_round(timing->stopped_because)) {
        ++eliminated[*round];
      }
    }
  }
  if (!problem.measuring || problem.measuring->stopped_because == StopReason::fixed_count ||
      contenders == 0) {
    return {};
  }
  std::vector<RoundOfRace> course{{0, contenders}};
  for (const auto& [round, leaving] : eliminated) {
    contenders -= leaving;
    course.push_back({round, contenders});
  }
  return course;
}

std::vector<BestSoFar> search_course(const ProblemReport& problem) {
  std::vector<const Result*> proposed;
  for (const Result& result : problem.ranking) {
    if (result.proposal > 0) {
      proposed.push_back(&result);
    }
  }
  std::ranges::sort(proposed, {}, &Result::proposal);
  std::vector<BestSoFar> course;
  for (const Result* result : proposed) {
    const double us = ranked_us(result->outcome);
    if (course.empty() || us < course.back().us) {
      course.push_back({result->proposal, us, result->short_form, result->proposed_by});
    }
  }
  return course;
}

std::vector<std::size_t> pareto_front(const std::vector<Costs>& costs) {
  std::vector<std::size_t> order(costs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return costs[i]; });
  std::vector<std::size_t> front;
  double least_second = std::numeric_limits<double>::infinity();
  for (const std::size_t i : order) {
    const bool same_as_last = !front.empty() && costs[i] == costs[front.back()];
    if (costs[i].second < least_second || same_as_last) {
      front.push_back(i);
      least_second = costs[i].second;
    }
  }
  return front;
}

std::vector<ParameterStudy> study_parameters(const std::vector<RunReport>& runs) {
  const std::vector<Group> groups = make_groups(runs);
  std::vector<ParameterStudy> studies;
  for (const auto& [name, values] : values_of(groups)) {
    if (values.size() < 2) {
      continue;
    }
    Study study(name, values);
    for (const Group& group : groups) {
      const auto found = std::ranges::find(group.parameters(), name, &NamedValue::name);
      if (found != group.parameters().end()) {
        study.add(group, static_cast<std::size_t>(found - group.parameters().begin()));
      }
    }
    studies.push_back(study.finish());
  }
  std::ranges::stable_sort(studies, std::ranges::greater{}, &ParameterStudy::change_percent);
  return studies;
}

}  // namespace fatune

#pragma once

#include <algorithm>
#include <initializer_list>
#include <limits>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "model/members.hpp"

namespace fatune {

/// Fills every member of a report with random values that a file may have. It follows the lists of
/// members, so it knows each new member.
class RandomReport {
 public:
  explicit RandomReport(std::uint32_t seed) : engine_(seed) {}

  [[nodiscard]] RunReport make() {
    RunReport run;
    fill(run);
    for (ProblemReport& problem : run.problems) {
      for (Result& result : problem.ranking) {
        result.outcome = below(2) == 0 ? Outcome(made<Measured>()) : Outcome(made<Estimated>());
      }
    }
    return run;
  }

 private:
  [[nodiscard]] std::uint64_t below(std::uint64_t end) {
    return std::uniform_int_distribution<std::uint64_t>(0, end - 1)(engine_);
  }
  template <typename Value>
  Value made() {
    Value value;
    fill(value);
    return value;
  }
  template <typename Value>
  Value one_of(std::initializer_list<Value> values) {
    return values.begin()[below(values.size())];
  }

  void fill(bool& value) { value = below(2) == 0; }
  template <std::integral Integer>
  void fill(Integer& value) {
    using Limits = std::numeric_limits<Integer>;
    value =
        one_of<Integer>({0, 1, Limits::max(), Limits::min(), static_cast<Integer>(below(1000))});
  }
  void fill(double& value) {
    using Limits = std::numeric_limits<double>;
    value =
        one_of({0.0, 1.0 / 3.0, -1e300, Limits::denorm_min(), Limits::infinity(),
                -Limits::infinity(), Limits::quiet_NaN(), 1e-3 * static_cast<double>(below(1000))});
  }
  void fill(std::string& value) {
    value = one_of<const char*>(
        {"", "a", "null", "1", "\"\\\n\t", "\xe2\x82\xac \x01", "/a/0", "true"});
  }
  void fill(DType& value) { value = one_of({DType::fp16, DType::bf16}); }
  void fill(Arch& value) { value = one_of<Arch>({{80, 0}, {90, 'a'}, {120, 0}}); }
  void fill(Strategy& value) { value = one_of({Strategy::race, Strategy::exhaustive}); }
  void fill(StopReason& value) { value = one_of({StopReason::not_yet, StopReason::fixed_count}); }
  void fill(EstimateSource& value) {
    value = one_of({EstimateSource::family, EstimateSource::emulation});
  }
  void fill(Verdict& value) { value = static_cast<Verdict>(below(kVerdicts)); }
  void fill(Doubt& value) { value = static_cast<Doubt>(below(kDoubts)); }
  void fill(std::map<std::string, std::string>& value) {
    for (std::uint64_t i = below(3); i > 0; --i) {
      fill(value[made<std::string>()]);
    }
  }
  template <typename Item>
  void fill(std::vector<Item>& items) {
    items.resize(below(3));
    for (Item& item : items) {
      fill(item);
    }
  }
  template <typename Value>
  void fill(std::optional<Value>& value) {
    if (below(2) == 0) {
      fill(value.emplace());
    }
  }
  // Names are keys of an object, so each occurs once.
  void fill(std::vector<NamedValue>& parameters) {
    parameters = {{"z", made<std::string>()}, {"a", "128"}, {"m", "-1.50"}};
    parameters.resize(below(4));
  }
  void fill(std::vector<CounterValue>& counters) {
    counters = {{"z_us", made<double>()}, {"a_mb", made<double>()}};
    counters.resize(below(3));
  }
  void fill(Problem& problem) {
    problem = {
        1 + static_cast<std::int64_t>(below(32)), 4096, 16, 128, made<DType>(), made<bool>()};
    problem.kv_heads = one_of<std::int64_t>({1, 16});
    problem.softmax_scale = one_of({0.1F, 1.0F / 3.0F, 1e3F});
    fill(problem.lse);
  }
  // Files with times that no kernel takes are refused.
  void fill(Timing& timing) {
    fill_members(timing);
    timing.median_us = 1.0 / 3.0;
    timing.mean_us = timing.min_us = timing.max_us = 0.1;
    timing.median_low_us = 0.0;
    timing.median_high_us = std::numeric_limits<double>::infinity();
    timing.sustained_us = 1e5 / 3.0;
    std::ranges::fill(timing.samples_us, 1e7 / 3.0);
  }
  void fill(Estimated& estimated) {
    fill_members(estimated);
    estimated.estimate_us = 12.5;
  }
  template <std::size_t... kIndex>
  void fill_alternative(Outcome& outcome, std::index_sequence<kIndex...>) {
    const std::uint64_t chosen = below(sizeof...(kIndex));
    ((kIndex == chosen ? static_cast<void>(fill(outcome.emplace<kIndex>())) : void()), ...);
  }
  void fill(Outcome& outcome) {
    fill_alternative(outcome, std::make_index_sequence<std::variant_size_v<Outcome>>{});
  }
  template <HasMembers Struct>
  void fill(Struct& value) {
    fill_members(value);
  }
  template <typename Struct>
  void fill_members(Struct& value) {
    visit_members(value, [this](const auto&, auto& member) { fill(member); });
  }

  std::mt19937 engine_;
};

}  // namespace fatune

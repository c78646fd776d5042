#include "plan/planner.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.hpp"
#include "base/ranges.hpp"
#include "base/reservoir.hpp"
#include "plan/scope.hpp"

namespace fatune {
namespace {

/// Counts the configurations that the space's rules dropped (`pruned`), or else the family's rules.
std::int64_t count_dropped(const Plan& plan, bool pruned) {
  std::int64_t count = std::ranges::count_if(plan.dropped, [&](const DroppedConfig& dropped) {
    return std::holds_alternative<Pruned>(dropped.outcome) == pruned;
  });
  for (const DropCount& more : plan.dropped_besides) {
    count += more.pruned == pruned ? more.count : 0;
  }
  return count;
}

std::vector<ParamValue> asked_values(const Binding& binding, ProblemProperty property) {
  if (property == ProblemProperty::d_head) {
    return {binding.d_heads.begin(), binding.d_heads.end()};
  }
  return mapped(binding.dtypes, [](DType dtype) { return static_cast<ParamValue>(dtype); });
}

ConfigSet bind_all(const Family& family, ConfigSet configs, const Binding& binding) {
  for (std::size_t i = 0; i < family.parameters.size(); ++i) {
    if (!family.parameters[i].binds) {
      continue;
    }
    const std::vector<ParamValue> values = asked_values(binding, *family.parameters[i].binds);
    if (values.empty()) {
      continue;
    }
    ConfigSet bound;
    for (const ParamValue value : values) {
      add_all(configs.values_of(i).contains(value) ? with_value(configs, i, value)
                                                   : put_value(configs, i, value),
              bound);
    }
    configs = std::move(bound);
  }
  return configs;
}

/// The configurations of a Q of 16 bits; all of a family whose configurations do not say.
ConfigSet of_16_bits(const Family& family, const ConfigSet& configs) {
  const auto dtype =
      std::ranges::find(family.parameters, ProblemProperty::dtype, &Parameter::binds);
  if (dtype == family.parameters.end()) {
    return configs;
  }
  const auto index = static_cast<std::size_t>(dtype - family.parameters.begin());
  ConfigSet left;
  for (const ParamValue value : configs.values_of(index)) {
    if (!has_eight_bits(static_cast<DType>(value))) {
      add_all(with_value(configs, index, value), left);
    }
  }
  return left;
}

/// The parts with what is asked for. Where no type is, it is 16 bits, unless the space has none.
std::vector<SpacePart> bound_parts(const Family& family, const Space& space,
                                   const Binding& binding) {
  std::vector<SpacePart> parts = space.parts;
  if (binding.dtypes.empty()) {
    const std::vector<SpacePart> usual = mapped(parts, [&](const SpacePart& part) {
      return SpacePart{of_16_bits(family, part.configs), part.rules};
    });
    const auto is_empty = [](const SpacePart& part) { return part.configs.size() == 0; };
    parts = std::ranges::all_of(usual, is_empty) ? parts : usual;
  }
  for (SpacePart& part : parts) {
    part.configs = bind_all(family, std::move(part.configs), binding);
  }
  return parts;
}

std::optional<Pruned> prune(const Family& family, const std::vector<SpaceRule>& rules,
                            const std::vector<double>& scope, Needs known) {
  const auto rule = std::ranges::find_if(
      rules, [&](const SpaceRule& r) { return r.needs().within(known) && r.drops.holds(scope); });
  if (rule == rules.end()) {
    return std::nullopt;
  }
  return Pruned{rule->id, rule->reason.of(scope).render(scope, family.parameters)};
}

std::optional<Invalid> check_understood(const Family& family, const Config& config) {
  for (std::size_t i = 0; i < family.parameters.size(); ++i) {
    const Parameter& parameter = family.parameters[i];
    const auto& values = parameter.values;
    if (!is_among(config.values.at(i), values)) {
      return Invalid{kUnderstoodValues, fmt::format("{} is {}; {} understands {}", parameter.name,
                                                    value_text(parameter, config.values[i]),
                                                    family.name, understood_values(parameter))};
    }
  }
  return std::nullopt;
}

std::optional<Invalid> check_bound(const Family& family, const Config& config,
                                   const Problem& problem) {
  for (std::size_t i = 0; i < family.parameters.size(); ++i) {
    const Parameter& parameter = family.parameters[i];
    if (!parameter.binds) {
      continue;
    }
    const ParamValue wanted = property_value(problem, *parameter.binds);
    if (config.values[i] != wanted) {
      return Invalid{
          "bound-to-problem",
          fmt::format("{} is {} in the configuration, but {} in the problem", parameter.name,
                      value_text(parameter, config.values[i]), value_text(parameter, wanted))};
    }
  }
  return std::nullopt;
}

std::optional<Invalid> check_told(const Family& family, const Problem& problem) {
  for (const ToldProperty& property : kToldProperties) {
    if (has(problem, property) && !takes(family.arguments, property)) {
      return Invalid{std::string(property.rule), why_not_taken(family.name, property)};
    }
  }
  return std::nullopt;
}

/// The type of K and V for a configuration: that of its Q, if that has 8 bits, or else `otherwise`.
DType kv_dtype_for(const Family& family, const Config& config, DType otherwise) {
  for (std::size_t i = 0; i < family.parameters.size(); ++i) {
    const auto dtype = static_cast<DType>(config.values.at(i));
    if (family.parameters[i].binds == ProblemProperty::dtype && has_eight_bits(dtype)) {
      return dtype;
    }
  }
  return otherwise;
}

/// Returns why the configuration is not kept. Values that the kernel does not understand are found
/// first, because no expression is meant for them. Then come the space's rules, then the family's
/// validity rules. otherwise: as in kv_dtype_for()
std::optional<Outcome> drop(const Family& family, const std::vector<SpaceRule>& rules,
                            const Config& config, DType otherwise) {
  if (auto invalid = check_understood(family, config)) {
    return invalid;
  }
  const DType kv_dtype = kv_dtype_for(family, config, otherwise);
  const std::vector<double> scope = make_scope(family, config, nullptr, nullptr, kv_dtype);
  if (auto pruned = prune(family, rules, scope, kKnownInPlan)) {
    return pruned;
  }
  return check_valid(family, config, nullptr, nullptr, kv_dtype);
}

bool has_waiting_rule(const SpacePart& part) {
  return std::ranges::any_of(
      part.rules, [](const SpaceRule& rule) { return !rule.needs().within(kKnownInPlan); });
}

bool is_among_first(const std::vector<SpacePart>& parts, std::size_t count, const Config& config) {
  return std::any_of(parts.begin(), parts.begin() + static_cast<std::ptrdiff_t>(count),
                     [&](const SpacePart& part) { return part.configs.contains(config); });
}

/// The values of the parameters bound to the problem, and the rule that dropped the configuration.
using DropKey = std::pair<std::vector<ParamValue>, std::string>;

/// Divides the configurations of a space into those that are kept and those that are dropped.
class Planning {
 public:
  Planning(const Family& family, std::vector<SpacePart> parts, DType kv_dtype, std::size_t most)
      : family_(family),
        parts_(std::move(parts)),
        kv_dtype_(kv_dtype),
        kept_(most),
        dropped_(most) {}

  Plan make() {
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      for (auto config = parts_[i].configs.begin(); config != std::default_sentinel; ++config) {
        if (!is_among_first(parts_, i, *config)) {
          sort_in(*config, i);
        }
      }
    }
    return take_plan();
  }

 private:
  /// `first`: the index of the first part that has the configuration.
  void sort_in(const Config& config, std::size_t first) {
    std::optional<Outcome> outcome = drop(family_, parts_[first].rules, config, kv_dtype_);
    for (std::size_t i = first + 1; outcome && i < parts_.size(); ++i) {
      if (parts_[i].configs.contains(config) &&
          !drop(family_, parts_[i].rules, config, kv_dtype_)) {
        outcome.reset();
      }
    }
    if (outcome) {
      add_dropped({config, *std::move(outcome)});
    } else if (const auto place = kept_.next_place()) {
      kept_.put(*place, config);
    }
  }

  void add_dropped(DroppedConfig config) {
    const auto place = dropped_.next_place();
    const std::optional<DroppedConfig> left_out =
        place ? dropped_.put(*place, std::move(config)) : std::move(config);
    if (left_out) {
      count(*left_out);
    }
  }

  void count(const DroppedConfig& dropped) {
    const auto* const pruned = std::get_if<Pruned>(&dropped.outcome);
    const std::string& rule =
        pruned != nullptr ? pruned->rule : std::get<Invalid>(dropped.outcome).rule;
    const auto [counted, is_new] =
        besides_.try_emplace({bound_values(dropped.config), rule},
                             DropCount{dropped.config, rule, pruned != nullptr, 0});
    ++counted->second.count;
  }

  [[nodiscard]] std::vector<ParamValue> bound_values(const Config& config) const {
    std::vector<ParamValue> values;
    for (std::size_t i = 0; i < family_.parameters.size(); ++i) {
      if (family_.parameters[i].binds) {
        values.push_back(config.values[i]);
      }
    }
    return values;
  }

  Plan take_plan() {
    Plan plan;
    plan.kept_besides = kept_.left_out();
    plan.kept = kept_.take();
    std::ranges::sort(plan.kept);
    plan.dropped = dropped_.take();
    std::ranges::sort(plan.dropped, {}, &DroppedConfig::config);
    for (auto& [key, counted] : besides_) {
      plan.dropped_besides.push_back(std::move(counted));
    }
    if (std::ranges::any_of(parts_, has_waiting_rule)) {
      plan.waiting = std::move(parts_);
    }
    return plan;
  }

  const Family& family_;
  std::vector<SpacePart> parts_;
  DType kv_dtype_;
  Reservoir<Config> kept_;
  Reservoir<DroppedConfig> dropped_;
  std::map<DropKey, DropCount> besides_;
};

}  // namespace

std::optional<Invalid> check_valid(const Family& family, const Config& config,
                                   const Problem* problem, const DeviceLimits* limits,
                                   std::optional<DType> kv_dtype) {
  if (config.family != family.name || config.values.size() != family.parameters.size()) {
    return Invalid{"other-family", fmt::format("it is a configuration of '{}', not of '{}'",
                                               config.family, family.name)};
  }
  if (auto invalid = check_understood(family, config)) {
    return invalid;
  }
  if (problem != nullptr) {
    if (auto invalid = check_bound(family, config, *problem)) {
      return invalid;
    }
    if (auto invalid = check_told(family, *problem)) {
      return invalid;
    }
  }
  const std::vector<double> scope = make_scope(family, config, problem, limits, kv_dtype);
  const Needs known{
      .problem = problem != nullptr, .device = limits != nullptr, .kv_dtype = kv_dtype.has_value()};
  for (const ValidityRule& rule : family.validity) {
    const bool can_tell = rule.must_hold.needs().within(known) && rule.reason.needs().within(known);
    if (can_tell && !rule.must_hold.holds(scope)) {
      return Invalid{rule.id, rule.reason.render(scope, family.parameters)};
    }
  }
  return std::nullopt;
}

Plan make_plan(const Family& family, const Space& space, const Binding& binding, std::size_t most) {
  return Planning(family, bound_parts(family, space, binding), binding.kv_dtype, most).make();
}

std::optional<Pruned> prune_on(const ConfigCase& of, const Plan& plan) {
  if (plan.waiting.empty()) {
    return std::nullopt;
  }
  const std::vector<double> scope = make_scope(of);
  std::optional<Pruned> pruned;
  for (const SpacePart& part : plan.waiting) {
    if (!part.configs.contains(of.config) || prune(of.family, part.rules, scope, kKnownInPlan)) {
      continue;
    }
    pruned = prune(of.family, part.rules, scope, {.problem = true, .device = true});
    if (!pruned) {
      return std::nullopt;
    }
  }
  return pruned;
}

std::vector<std::string> unknown_values(const Plan& plan) {
  std::vector<std::string> reasons;
  for (const DroppedConfig& dropped : plan.dropped) {
    const auto* invalid = std::get_if<Invalid>(&dropped.outcome);
    if (invalid != nullptr && invalid->rule == kUnderstoodValues) {
      append_new(reasons, invalid->reason);
    }
  }
  return reasons;
}

void fail_without_configs(const Family& family, const Space& space, const Plan& plan) {
  const std::int64_t pruned = count_dropped(plan, true);
  const std::int64_t invalid = count_dropped(plan, false);
  const std::vector<std::string> unknown = unknown_values(plan);
  const std::string what =
      invalid == 0 ? fmt::format("the rules keep no configuration of space {}", space.key)
      : pruned == 0
          ? fmt::format("{} can build no configuration of space {}", family.name, space.key)
          : fmt::format(
                "no configuration of space {} is left: its rules drop {}, {} cannot "
                "build the other {}",
                space.key, pruned, family.name, invalid);
  throw Error(ExitCode::nothing_ranked, what, {},
              unknown.empty() ? "'fatune list --pruned' with the same options says why"
                              : fmt::format("{}", fmt::join(unknown, "; ")));
}

std::optional<Unlaunchable> check_limits(const ConfigCase& of) {
  const DeviceLimits& limits = of.limits;
  const Arch needed = of.family.min_arch;
  if (!provides(limits.arch, needed)) {
    return Unlaunchable{fmt::format("{} needs {}{}, the device is {}", of.family.name,
                                    arch_name(needed), needed.suffix == '\0' ? " or newer" : "",
                                    arch_name(limits.arch))};
  }
  LaunchGeometry launch;
  try {
    launch = launch_geometry(of);
  } catch (const TooLargeProblem& error) {
    return Unlaunchable{"the problem is too large for it: " + error.what_was_wrong()};
  }
  const std::int64_t threads = thread_count(launch);
  if (threads > limits.max_threads_per_block) {
    return Unlaunchable{fmt::format("needs {} threads per block, the device allows {}", threads,
                                    limits.max_threads_per_block)};
  }
  if (launch.dynamic_smem_bytes > limits.smem_per_block_optin_bytes) {
    return Unlaunchable{
        fmt::format("needs {} bytes of shared memory per block, the device allows {}",
                    launch.dynamic_smem_bytes, limits.smem_per_block_optin_bytes)};
  }
  return std::nullopt;
}

std::optional<double> find_quantity(const ConfigCase& of, std::string_view name) {
  const auto derived = std::ranges::find(of.family.derived, name, &Derived::name);
  return derived == of.family.derived.end() ? std::nullopt
                                            : std::optional(make_scope(of)[derived->symbol]);
}

}  // namespace fatune

#include "plan/planner.hpp"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/error.hpp"
#include "core/is_among.hpp"
#include "core/mapped.hpp"
#include "core/text_parts.hpp"
#include "plan/scope.hpp"

namespace fatune {
namespace {

std::vector<ParamValue> asked_values(const Binding& binding, ProblemProperty property) {
  if (property == ProblemProperty::d_head) {
    return {binding.d_heads.begin(), binding.d_heads.end()};
  }
  return mapped(binding.dtypes, [](DType dtype) { return static_cast<ParamValue>(dtype); });
}

/// See Binding: the configurations of that value, or else all of them with it put in.
std::vector<Config> with_value(const std::vector<Config>& configs, std::size_t parameter,
                               ParamValue value) {
  std::vector<Config> bound;
  std::ranges::copy_if(configs, std::back_inserter(bound),
                       [&](const Config& config) { return config.values[parameter] == value; });
  if (bound.empty()) {
    bound = configs;
    for (Config& config : bound) {
      config.values[parameter] = value;
    }
  }
  return bound;
}

std::vector<Config> bind_all(const Family& family, std::vector<Config> configs,
                             const Binding& binding) {
  for (std::size_t i = 0; i < family.parameters.size(); ++i) {
    if (!family.parameters[i].binds) {
      continue;
    }
    const std::vector<ParamValue> values = asked_values(binding, *family.parameters[i].binds);
    if (values.empty()) {
      continue;
    }
    std::vector<Config> bound;
    for (const ParamValue value : values) {
      std::vector<Config> some = with_value(configs, i, value);
      std::move(some.begin(), some.end(), std::back_inserter(bound));
    }
    configs = std::move(bound);
  }
  return configs;
}

std::optional<Pruned> prune(const Family& family, const std::vector<SpaceRule>& rules,
                            const std::vector<double>& scope, Needs known) {
  const auto rule = std::ranges::find_if(
      rules, [&](const SpaceRule& r) { return r.needs().within(known) && r.drops.holds(scope); });
  if (rule == rules.end()) {
    return std::nullopt;
  }
  return Pruned{rule->id, rule->reason.render(scope, family.parameters)};
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
          fmt::format("{} of the configuration is {}, of the problem {}", parameter.name,
                      value_text(parameter, config.values[i]), value_text(parameter, wanted))};
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<Invalid> check_valid(const Family& family, const Config& config,
                                   const Problem* problem, const DeviceLimits* limits) {
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
  }
  const std::vector<double> scope = make_scope(family, config, problem, limits);
  const Needs known{.problem = problem != nullptr, .device = limits != nullptr};
  for (const ValidityRule& rule : family.validity) {
    const bool can_tell = rule.must_hold.needs().within(known) && rule.reason.needs().within(known);
    if (can_tell && !rule.must_hold.holds(scope)) {
      return Invalid{rule.id, rule.reason.render(scope, family.parameters)};
    }
  }
  return std::nullopt;
}

namespace {

/// Why the configuration is not kept. Values the kernel does not know come first: no expression is
/// meant for them. Then the space's rules, then the family's validity.
std::optional<Outcome> drop(const Family& family, const std::vector<SpaceRule>& rules,
                            const Config& config) {
  if (auto invalid = check_understood(family, config)) {
    return invalid;
  }
  if (auto pruned = prune(family, rules, make_scope(family, config, nullptr, nullptr), {})) {
    return pruned;
  }
  return check_valid(family, config);
}

bool have_no_rules(const std::vector<SpacePart>& parts) {
  return std::ranges::all_of(parts, [](const SpacePart& part) { return part.rules.empty(); });
}

using Dropped = std::map<Config, Outcome>;

/// The configurations that the part keeps, with the rules that wait. The others are added to
/// `dropped`.
SpacePart keep_of(const Family& family, const SpacePart& part, const Binding& binding,
                  Dropped& dropped) {
  std::set<Config> kept;
  for (Config& config : bind_all(family, part.configs, binding)) {
    if (auto outcome = drop(family, part.rules, config)) {
      dropped.emplace(std::move(config), *std::move(outcome));
    } else {
      kept.insert(std::move(config));
    }
  }
  SpacePart waiting{{kept.begin(), kept.end()}, part.rules};
  std::erase_if(waiting.rules, [](const SpaceRule& rule) { return rule.needs().within({}); });
  return waiting;
}

}  // namespace

Plan make_plan(const Family& family, const Space& space, const Binding& binding) {
  std::set<Config> kept;
  Dropped dropped;
  std::vector<SpacePart> waiting;
  for (const SpacePart& part : space.parts) {
    const SpacePart& added = waiting.emplace_back(keep_of(family, part, binding, dropped));
    kept.insert(added.configs.begin(), added.configs.end());
  }
  Plan plan{{kept.begin(), kept.end()}, {}, {}};
  if (!have_no_rules(waiting)) {
    plan.waiting = std::move(waiting);
  }
  for (auto& [config, outcome] : dropped) {
    if (!kept.contains(config)) {
      plan.dropped.push_back({config, std::move(outcome)});
    }
  }
  return plan;
}

std::optional<Pruned> prune_on(const Family& family, const Plan& plan, const Config& config,
                               const Problem& problem, const DeviceLimits& limits) {
  if (plan.waiting.empty()) {
    return std::nullopt;
  }
  const std::vector<double> scope = make_scope(family, config, &problem, &limits);
  std::optional<Pruned> pruned;
  for (const SpacePart& part : plan.waiting) {
    if (std::ranges::binary_search(part.configs, config)) {
      pruned = prune(family, part.rules, scope, {.problem = true, .device = true});
      if (!pruned) {
        return std::nullopt;
      }
    }
  }
  return pruned;
}

std::vector<std::string> unknown_values(const Plan& plan) {
  std::vector<std::string> reasons;
  for (const DroppedConfig& dropped : plan.dropped) {
    const auto* invalid = std::get_if<Invalid>(&dropped.outcome);
    if (invalid != nullptr && invalid->rule == kUnderstoodValues &&
        !is_among(invalid->reason, reasons)) {
      reasons.push_back(invalid->reason);
    }
  }
  return reasons;
}

std::optional<Unlaunchable> check_limits(const Family& family, const Config& config,
                                         const Problem& problem, const DeviceLimits& limits) {
  const Arch needed = family.min_arch;
  if (!provides(limits.arch, needed)) {
    return Unlaunchable{fmt::format("{} needs {}{}, the device is {}", family.name,
                                    arch_name(needed), needed.suffix == '\0' ? " or newer" : "",
                                    arch_name(limits.arch))};
  }
  const LaunchGeometry launch = launch_geometry(family, config, problem, limits);
  const std::int64_t threads = launch.block[0] * launch.block[1] * launch.block[2];
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

std::optional<double> find_quantity(const Family& family, const Config& config,
                                    const Problem& problem, const DeviceLimits& limits,
                                    std::string_view name) {
  const auto derived = std::ranges::find(family.derived, name, &Derived::name);
  if (derived == family.derived.end()) {
    return std::nullopt;
  }
  return make_scope(family, config, &problem, &limits)[derived->symbol];
}

double quantity(const Family& family, const Config& config, const Problem& problem,
                const DeviceLimits& limits, std::string_view name) {
  if (const auto value = find_quantity(family, config, problem, limits, name)) {
    return *value;
  }
  throw Error(ExitCode::bad_file, fmt::format("the family declares no quantity '{}'", name),
              family.file + ": /derived",
              "it declares: " + joined(family.derived, ", ", &Derived::name));
}

}  // namespace fatune

#include "engine/choice/plan_problems.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <map>
#include <random>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.hpp"
#include "base/ranges.hpp"
#include "model/kv_lengths.hpp"
#include "plan/config_text.hpp"
#include "print/console.hpp"

namespace fatune {
namespace {

constexpr std::int64_t kDefaultHeadDim = 128;
constexpr std::array<std::int64_t, 4> kDefaultSeqLens{512, 1024, 2048, 4096};

/// The value that the configuration binds, else the first that is asked for, else `otherwise`.
template <typename Value>
Value bound_value(const Family& family, const Config& config, ProblemProperty property,
                  const std::vector<Value>& asked_for, Value otherwise) {
  for (std::size_t i = 0; i < family.parameters.size(); ++i) {
    if (family.parameters[i].binds == property) {
      return static_cast<Value>(config.values.at(i));
    }
  }
  return asked_for.empty() ? otherwise : asked_for.front();
}

DType dtype_of(const Family& family, const Config& config, const ProblemOptions& options) {
  return bound_value(family, config, ProblemProperty::dtype, options.dtypes, DType::fp16);
}

std::int64_t d_head_of(const Family& family, const Config& config, const ProblemOptions& options) {
  return bound_value(family, config, ProblemProperty::d_head, options.d_heads, kDefaultHeadDim);
}

/// The family's usual one if the options leave both head dimensions to the configuration, else that
/// of Q and K. An option may still name another.
std::int64_t d_head_v_of(const Family& family, const Config& config,
                         const ProblemOptions& options) {
  const std::int64_t d_head = d_head_of(family, config, options);
  return options.d_heads.empty() ? usual_d_head_v(family, config).value_or(d_head) : d_head;
}

/// What a problem takes from a configuration, or the options in its place.
struct BoundExtents {
  DType dtype;
  std::int64_t d_head;
  std::int64_t d_head_v = d_head;
  bool latent = false;

  bool operator==(const BoundExtents&) const = default;
};

BoundExtents bound_extents(const Family& family, const Config& config,
                           const ProblemOptions& options) {
  return {dtype_of(family, config, options), d_head_of(family, config, options),
          d_head_v_of(family, config, options),
          options.d_heads.empty() && usual_latent(family, config)};
}

/// Configurations of one dtype and head dimension, for any sequence length.
struct Group {
  BoundExtents extents;
  ProblemPlan plan;
};

Group& group_of(const Family& family, const Config& config, const ProblemOptions& options,
                std::vector<Group>& groups) {
  const BoundExtents extents = bound_extents(family, config, options);
  const auto found = std::ranges::find(groups, extents, &Group::extents);
  return found != groups.end() ? *found : groups.emplace_back(Group{extents, {}});
}

std::int64_t& count_of(const std::string& rule, ProblemPlan& plan) {
  auto& counts = plan.pruned_by_rule;
  const auto found = std::ranges::find(counts, rule, &std::pair<std::string, std::int64_t>::first);
  return found != counts.end() ? found->second : counts.emplace_back(rule, 0).second;
}

void group_configs(const FamilyPlan& of, const ProblemOptions& options,
                   std::vector<Group>& groups) {
  const auto plan_of = [&](const Config& config) -> ProblemPlan& {
    return group_of(*of.family, config, options, groups).plan;
  };
  for (const Config& config : of.plan->kept) {
    plan_of(config).configs.push_back(config);
  }
  for (const DroppedConfig& dropped : of.plan->dropped) {
    ProblemPlan& group = plan_of(dropped.config);
    if (const auto* pruned = std::get_if<Pruned>(&dropped.outcome)) {
      ++group.pruned;
      ++count_of(pruned->rule, group);
    } else {
      ++group.invalid;
    }
  }
  for (const DropCount& more : of.plan->dropped_besides) {
    ProblemPlan& group = plan_of(more.example);
    (more.pruned ? group.pruned : group.invalid) += more.count;
    if (more.pruned) {
      count_of(more.rule, group) += more.count;
    }
  }
}

void check_told_apart(const std::vector<FamilyPlan>& plans) {
  if (plans.size() < 2) {
    return;
  }
  std::map<std::string, std::string> family_of;
  for (const FamilyPlan& of : plans) {
    for (const Config& config : of.plan->kept) {
      const std::string text = short_form(*of.family, config);
      const auto [known, is_new] = family_of.try_emplace(text, of.family->name);
      if (!is_new && known->second != of.family->name) {
        throw Error(ExitCode::usage,
                    fmt::format("{} and {} both have a configuration '{}'", known->second,
                                of.family->name, text),
                    {}, "outputs could not tell them apart: choose one with --family");
      }
    }
  }
}

/// The lengths that are asked for by a detail of that name; empty: none are.
std::string lengths_in(const ProblemOptions& options, const char* detail) {
  const auto lengths = options.details.find(&find_detail(detail));
  return lengths == options.details.end() ? std::string() : std::get<std::string>(lengths->second);
}

std::int64_t batch_of(const ProblemOptions& options, std::int64_t seq_len) {
  for (const char* detail : {"seq_lens", "seq_lens_kv"}) {
    const std::string lengths = lengths_in(options, detail);
    const auto listed = lengths.empty() ? std::nullopt : listed_sequences(lengths);
    if (listed && !options.batch) {
      return *listed;
    }
  }
  return options.batch.value_or(options.usual_batch.value_or(default_batch(seq_len)));
}

/// Returns the greatest number of queries of a sequence. Throws Error(usage) if --seq gave another
/// length for lengths that differ.
std::int64_t longest(const ProblemOptions& options, std::int64_t seq_len) {
  const auto of_lengths = packed_seq_len(options);
  if (of_lengths && *of_lengths != seq_len && is_among(seq_len, options.seq_lens)) {
    throw Error(ExitCode::usage,
                fmt::format("the greatest of the lengths is {}, and not {}", *of_lengths, seq_len),
                "--seq", "leave it out: --seq-lens says how many queries sequences have");
  }
  return of_lengths.value_or(seq_len);
}

Problem make_problem(const ProblemOptions& options, const BoundExtents& extents,
                     std::int64_t asked_seq_len) {
  const std::int64_t seq_len = longest(options, asked_seq_len);
  Problem problem{batch_of(options, seq_len),
                  seq_len,
                  options.heads.value_or(kDefaultHeads),
                  extents.d_head,
                  extents.dtype,
                  options.causal.value_or(false)};
  problem.d_head_v = extents.d_head_v;
  problem.latent = extents.latent;
  for (const auto& [detail, value] : options.details) {
    set_detail(*detail, problem, value);
  }
  if (!problem.seq_lens_kv.empty() && !options.details.contains(&find_detail("seq_len_kv"))) {
    problem.seq_len_kv = std::max<std::int64_t>(1, greatest_length(problem.seq_lens_kv));
  }
  check_problem(problem);
  return problem;
}

/// Moves the configurations that the family's rules drop on this problem to `pruned_here`.
void prune_problem(const FamilyPlan& of, const DeviceLimits& limits, ProblemPlan& problem) {
  std::erase_if(problem.configs, [&](const Config& config) {
    auto pruned = config.family != of.family->name
                      ? std::nullopt
                      : prune_on({*of.family, config, problem.problem, limits}, *of.plan);
    if (!pruned) {
      return false;
    }
    ++problem.pruned;
    ++count_of(pruned->rule, problem);
    problem.pruned_here.push_back({config, *std::move(pruned)});
    return true;
  });
}

/// Pruned configurations that the family can build, by rule, in random order.
using Droppings = std::map<std::string, std::vector<Config>>;

Droppings buildable(const std::vector<FamilyPlan>& plans,
                    const std::vector<PrunedConfig>& pruned_here, std::uint64_t seed,
                    const std::function<bool(const Family&, const Config&)>& concerns) {
  Droppings droppings;
  for (const PrunedConfig& pruned : pruned_here) {
    droppings[pruned.why.rule].push_back(pruned.config);
  }
  for (const FamilyPlan& of : plans) {
    for (const DroppedConfig& dropped : of.plan->dropped) {
      const auto* pruned = std::get_if<Pruned>(&dropped.outcome);
      if (pruned != nullptr && concerns(*of.family, dropped.config) &&
          !check_valid(*of.family, dropped.config)) {
        droppings[pruned->rule].push_back(dropped.config);
      }
    }
  }
  std::mt19937_64 random(seed);
  for (auto& [rule, configs] : droppings) {
    std::shuffle(configs.begin(), configs.end(), random);
  }
  return droppings;
}

/// Takes one configuration of each rule in turn, until there are `most` or none is left.
std::vector<AuditedConfig> take_turns(const Droppings& droppings, std::size_t most) {
  std::vector<AuditedConfig> taken;
  for (std::size_t turn = 0;; ++turn) {
    const std::size_t before = taken.size();
    for (const auto& [rule, configs] : droppings) {
      if (turn < configs.size() && taken.size() < most) {
        taken.push_back({configs[turn], rule});
      }
    }
    if (taken.size() == before) {
      return taken;
    }
  }
}

template <typename T>
bool agrees(const T& value, const std::optional<T>& asked_for) {
  return !asked_for || value == *asked_for;
}

template <typename T>
bool agrees(const T& value, const std::vector<T>& asked_for) {
  return asked_for.empty() || is_among(value, asked_for);
}

[[noreturn]] void fail_mismatch(const Family& family, const Config& config, const char* option,
                                const std::string& of_config) {
  throw Error(ExitCode::usage,
              fmt::format("the data and the configuration '{}' differ: the configuration is for {}",
                          short_form(family, config), of_config),
              option, "change one of them, or leave the option out; --preset sets it too");
}

/// Throws Error(usage) if the options contradict the configuration's dtype or head dimension.
void check_agreement(const Family& family, const Config& config, const ProblemOptions& options) {
  constexpr std::int64_t kAnyLength = 1024;
  const Problem problem = problem_for(family, config, options, kAnyLength);
  if (!agrees(problem.dtype, options.dtypes)) {
    fail_mismatch(family, config, "--dtype", std::string(dtype_name(problem.dtype)));
  }
  if (!agrees(problem.d_head, options.d_heads)) {
    fail_mismatch(family, config, "--dhead", fmt::format("d_head {}", problem.d_head));
  }
}

}  // namespace

bool is_asked_for(const Problem& problem, const ProblemOptions& options) {
  const auto has = [&](const auto& asked) {
    return detail_value(*asked.first, problem) == asked.second;
  };
  return agrees(problem.seq_len, options.seq_lens) && agrees(problem.d_head, options.d_heads) &&
         agrees(problem.dtype, options.dtypes) && agrees(problem.causal, options.causal) &&
         agrees(problem.batch, options.batch) && agrees(problem.heads, options.heads) &&
         std::ranges::all_of(options.details, has);
}

Binding binding_of(const ProblemOptions& options) {
  Problem problem;
  const ProblemDetail& kv_dtype = find_detail("kv_dtype");
  if (const auto named = options.details.find(&kv_dtype); named != options.details.end()) {
    set_detail(kv_dtype, problem, named->second);
  }
  return {options.dtypes, options.d_heads, problem.kv_dtype};
}

std::optional<std::int64_t> packed_seq_len(const ProblemOptions& options) {
  const std::string lengths = lengths_in(options, "seq_lens");
  return lengths.empty() ? std::nullopt
                         : std::optional(std::max<std::int64_t>(1, greatest_length(lengths)));
}

std::int64_t first_seq_len(const ProblemOptions& options) {
  constexpr std::int64_t kDefaultSeqLen = 4096;
  return options.seq_lens.empty() ? packed_seq_len(options).value_or(kDefaultSeqLen)
                                  : options.seq_lens.front();
}

std::vector<Problem> named_problems(const ProblemOptions& options) {
  const auto or_else = [](auto values, auto otherwise) {
    return values.empty() ? decltype(values){otherwise} : values;
  };
  std::vector<Problem> problems;
  for (const DType dtype : or_else(options.dtypes, DType::fp16)) {
    for (const std::int64_t d_head : or_else(options.d_heads, kDefaultHeadDim)) {
      for (const std::int64_t seq_len : or_else(options.seq_lens, first_seq_len(options))) {
        problems.push_back(make_problem(options, {dtype, d_head}, seq_len));
      }
    }
  }
  return problems;
}

Problem problem_for(const Family& family, const Config& config, const ProblemOptions& options,
                    std::int64_t seq_len) {
  return make_problem(options, bound_extents(family, config, options), seq_len);
}

void choose_audited(const std::vector<FamilyPlan>& plans, const AuditOptions& audit,
                    const ProblemOptions& options, std::uint64_t seed,
                    std::vector<ProblemPlan>& problems) {
  for (ProblemPlan& problem : problems) {
    const std::size_t most =
        audit.all ? std::numeric_limits<std::size_t>::max() : static_cast<std::size_t>(audit.count);
    const auto concerns = [&](const Family& family, const Config& config) {
      return dtype_of(family, config, options) == problem.problem.dtype &&
             d_head_of(family, config, options) == problem.problem.d_head;
    };
    problem.audited = take_turns(buildable(plans, problem.pruned_here, seed, concerns), most);
    std::erase_if(problem.pruned_here, [&](const PrunedConfig& pruned) {
      return is_among(pruned.config, problem.audited, &AuditedConfig::config);
    });
  }
}

void prune_problems(const std::vector<FamilyPlan>& plans, const DeviceLimits& limits,
                    std::vector<ProblemPlan>& problems) {
  for (ProblemPlan& problem : problems) {
    for (const FamilyPlan& of : plans) {
      prune_problem(of, limits, problem);
    }
  }
}

std::vector<ProblemPlan> plan_problems(const std::vector<FamilyPlan>& plans,
                                       const ProblemOptions& options) {
  check_told_apart(plans);
  std::vector<Group> groups;
  for (const FamilyPlan& of : plans) {
    group_configs(of, options, groups);
  }
  const auto packed = packed_seq_len(options);
  std::vector<std::int64_t> seq_lens = options.seq_lens;
  if (seq_lens.empty() && packed) {
    seq_lens.push_back(*packed);
  } else if (seq_lens.empty()) {
    seq_lens.assign(kDefaultSeqLens.begin(), kDefaultSeqLens.end());
  }
  std::vector<ProblemPlan> problems;
  for (const Group& group : groups) {
    for (const std::int64_t seq_len : seq_lens) {
      if (!group.plan.configs.empty()) {
        problems.push_back(group.plan);
        problems.back().problem = make_problem(options, group.extents, seq_len);
      }
    }
  }
  return problems;
}

void say_left_out(const ProblemOptions& options, const std::vector<ProblemPlan>& problems,
                  const OutputOptions& output) {
  std::vector<std::string> left_out;
  const auto add_unless = [&](auto member, const auto& value, std::string name) {
    if (std::ranges::none_of(
            problems, [&](const ProblemPlan& plan) { return plan.problem.*member == value; })) {
      left_out.push_back(std::move(name));
    }
  };
  for (const DType dtype : options.dtypes) {
    add_unless(&Problem::dtype, dtype, std::string(dtype_name(dtype)));
  }
  for (const std::int64_t d_head : options.d_heads) {
    add_unless(&Problem::d_head, d_head, fmt::format("d_head {}", d_head));
  }
  if (!left_out.empty()) {
    print_note(output, fmt::format("left out, because no configuration is for it: {}",
                                   fmt::join(left_out, ", ")));
  }
}

std::vector<Config> parse_configs(const FamilySet& families, const std::vector<std::string>& texts,
                                  const ProblemOptions& problems) {
  std::vector<Config> configs = parse_configs(families, texts);
  for (const Config& config : configs) {
    check_agreement(families.of(config), config, problems);
  }
  return configs;
}

std::vector<Config> choose_configs(const KernelSet& kernels, const KernelOptions& options,
                                   const std::vector<std::string>& named,
                                   const ProblemOptions& problems, std::string& space) {
  if (!named.empty()) {
    return parse_configs(kernels.families, named, problems);
  }
  const Space chosen = choose_space(kernels, options);
  space = chosen.key;
  Plan plan = make_plan(kernels.family(), chosen, binding_of(problems));
  if (plan.kept.empty()) {
    fail_without_configs(kernels.family(), chosen, plan);
  }
  return std::move(plan.kept);
}

}  // namespace fatune

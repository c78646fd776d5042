#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/ranges.hpp"
#include "cli/subcommands.hpp"
#include "commands/list/list.hpp"
#include "engine/candidate_maker.hpp"
#include "engine/choice/kernel_choice.hpp"
#include "engine/choice/plan_problems.hpp"
#include "model/device_limits.hpp"
#include "model/record_json.hpp"
#include "plan/config_text.hpp"
#include "plan/planner.hpp"
#include "print/run_report.hpp"

namespace fatune {
namespace {

struct ListOptions {
  KernelOptions kernels;
  ProblemOptions problems;   ///< one length; without it, rules that need a problem wait
  std::optional<Arch> arch;  ///< absent: as offline_target()
  OutputOptions output;
  bool with_dropped = false;
  bool presets = false;  ///< the presets of problems, in place of a space
};

/// Estimates a configuration's time on the problems of one length; nothing if it cannot run.
using EstimateOne = std::function<std::optional<double>(const Config&)>;

ListedConfig listed(const Family& family, const Config& config, const EstimateOne& estimate) {
  Result result = make_result(family, config);
  return {.short_form = std::move(result.short_form),
          .parameters = std::move(result.parameters),
          .kernel_name = std::move(result.kernel_name),
          .estimate_us = estimate(config)};
}

/// `kernels`, `options` and `limits` must outlive the function.
EstimateOne estimate_for(const KernelSet& kernels, const ListOptions& options,
                         const DeviceLimits& limits, std::int64_t seq_len) {
  const SmRates rates = load_sm_rates(kernels.tree, limits.arch);
  return [&kernels, &options, &limits, rates, seq_len](const Config& config) {
    const Problem problem = problem_for(kernels.family(), config, options.problems, seq_len);
    const double us = CandidateMaker(kernels.families, limits, rates, problem).guess_us(config);
    return us > 0.0 ? std::optional(us) : std::nullopt;
  };
}

RuleCount& count_of(const std::string& rule, std::vector<RuleCount>& counts) {
  const auto found = std::ranges::find(counts, rule, &RuleCount::rule);
  return found != counts.end() ? *found : counts.emplace_back(RuleCount{rule, {}, 0});
}

/// Returns the space's rules in their order, including those that drop nothing.
std::vector<RuleCount> all_rules(const Space& space, bool problem_known) {
  std::vector<RuleCount> counts;
  for (const SpacePart& part : space.parts) {
    for (const SpaceRule& rule : part.rules) {
      count_of(rule.id, counts).waits = !problem_known && !rule.needs().within(kKnownInPlan);
    }
  }
  return counts;
}

std::optional<std::int64_t> only_listed_seq_len(const ProblemOptions& problems) {
  if (problems.seq_lens.size() > 1) {
    throw Error(ExitCode::usage, "list takes one sequence length", "--seq",
                "its rules may drop other configurations at another length; run once per length");
  }
  return problems.seq_lens.empty() ? packed_seq_len(problems)
                                   : std::optional(problems.seq_lens.front());
}

/// Drops the configurations that rules exclude on problems of this length.
void prune_plan(const Family& family, const ListOptions& options, const DeviceLimits& limits,
                std::int64_t seq_len, Plan& plan) {
  std::erase_if(plan.kept, [&](const Config& config) {
    auto pruned = prune_on(
        {family, config, problem_for(family, config, options.problems, seq_len), limits}, plan);
    if (pruned) {
      plan.dropped.push_back({config, *pruned});
    }
    return pruned.has_value();
  });
  std::ranges::sort(plan.dropped, [](const DroppedConfig& a, const DroppedConfig& b) {
    return a.config < b.config;
  });
}

void add_dropped(const Family& family, const DroppedConfig& dropped, PlanReport& report) {
  ListedConfig config{short_form(family, dropped.config), named_values(family, dropped.config)};
  if (const auto* pruned = std::get_if<Pruned>(&dropped.outcome)) {
    RuleCount& count = count_of(pruned->rule, report.rules);
    if (++count.dropped == 1) {
      count.reason = pruned->reason;
    }
    config.rule = pruned->rule;
    config.reason = pruned->reason;
    report.pruned.push_back(std::move(config));
  } else if (const auto* invalid = std::get_if<Invalid>(&dropped.outcome)) {
    config.rule = invalid->rule;
    config.reason = invalid->reason;
    report.invalid.push_back(std::move(config));
  }
}

void add_besides(const Plan& plan, PlanReport& report) {
  report.kept_besides = plan.kept_besides;
  for (const DropCount& more : plan.dropped_besides) {
    (more.pruned ? report.pruned_besides : report.invalid_besides) += more.count;
    if (more.pruned) {
      count_of(more.rule, report.rules).dropped += more.count;
    }
  }
}

PlanReport make_report(const Family& family, const Space& space, const Plan& plan,
                       std::optional<std::int64_t> seq_len, const EstimateOne& estimate) {
  PlanReport report;
  report.seq_len = seq_len;
  report.space = space.key;
  report.family = family.name;
  report.rules = all_rules(space, seq_len.has_value());
  report.unknown_values = unknown_values(plan);
  report.kept =
      mapped(plan.kept, [&](const Config& config) { return listed(family, config, estimate); });
  for (const DroppedConfig& dropped : plan.dropped) {
    add_dropped(family, dropped, report);
  }
  add_besides(plan, report);
  return report;
}

ExitCode list(const ListOptions& options) {
  if (options.presets) {
    const std::vector<ProblemPreset> presets = load_presets();
    print_document(rows_document("presets", "presets", preset_fields(), presets), options.output);
    return ExitCode::ok;
  }
  const KernelSet kernels = choose_kernels(options.kernels);
  const Space space = choose_space(kernels, options.kernels);
  const std::optional<std::int64_t> seq_len = only_listed_seq_len(options.problems);
  Plan plan = make_plan(kernels.family(), space, binding_of(options.problems));
  EstimateOne estimate = [](const Config&) { return std::nullopt; };
  DeviceLimits limits;
  if (seq_len) {
    limits = offline_target(options.arch, kernels.tree, kernels.families.all()).limits;
    prune_plan(kernels.family(), options, limits, *seq_len, plan);
    estimate = estimate_for(kernels, options, limits, *seq_len);
  }
  print_document(plan_document(make_report(kernels.family(), space, plan, seq_len, estimate),
                               options.with_dropped),
                 options.output);
  return ExitCode::ok;
}

/// A row of the CSV: one configuration, kept or dropped.
struct ListRow {
  const char* status;
  const ListedConfig* config;
};

Fields<ListRow> list_fields() {
  return {
      {"status", "status", &ListRow::status},
      {"config", "config", kWraps, [](auto& r) { return r.config->short_form; }},
      {"rule", "rule", [](auto& r) { return text_or_none(r.config->rule); }},
      {"reason", "reason", kWraps, [](auto& r) { return text_or_none(r.config->reason); }},
      {"estimate_us", "estimate us", decimals(1, kForPrograms),
       [](auto& r) { return r.config->estimate_us; }},
  };
}

Fields<RuleCount> rule_fields() {
  return {
      {"rule", "rule", &RuleCount::rule},
      {"dropped", "dropped", &RuleCount::dropped},
      {"reason", "reason for the first", kWraps, or_none<&RuleCount::reason>},
      {"waits", "waits", kProgramsOnly, &RuleCount::waits},
  };
}

std::vector<ListRow> rows_of(const PlanReport& report, bool with_dropped) {
  std::vector<ListRow> rows;
  const auto add = [&](const char* status, const std::vector<ListedConfig>& configs) {
    for (const ListedConfig& config : configs) {
      rows.push_back({status, &config});
    }
  };
  add("kept", report.kept);
  if (with_dropped) {
    add("pruned", report.pruned);
    add("invalid", report.invalid);
  }
  return rows;
}

/// The rows of the CSV. They have the parameters too, so that these can be filtered and shown.
Table records_of(const PlanReport& report, bool with_dropped) {
  const std::vector<ListRow> rows = rows_of(report, with_dropped);
  Table table = table_of(list_fields(), rows);
  append_parameters(mapped(rows,
                           [&](const ListRow& row) {
                             return RowParameters{report.family, &row.config->parameters};
                           }),
                    table);
  return table;
}

Json json_dropped(const ListedConfig& config) {
  return {{"config", config.short_form}, {"rule", config.rule}, {"reason", config.reason}};
}

Json json_kept(const ListedConfig& config) {
  return {{"config", config.short_form},
          {"kernel_name", json_or_null(config.kernel_name)},
          {"parameters", parameters_json(config.parameters)},
          {"estimate_us", json_or_null(config.estimate_us)}};
}

std::int64_t count_all(const std::vector<ListedConfig>& listed, std::int64_t besides) {
  return static_cast<std::int64_t>(listed.size()) + besides;
}

Json json_plan(const PlanReport& report) {
  return json_document("list",
                       {{"family", report.family},
                        {"space", report.space},
                        {"seq_len", report.seq_len ? Json(*report.seq_len) : Json(nullptr)},
                        {"kept", json_list(report.kept, json_kept)},
                        {"pruned", json_list(report.pruned, json_dropped)},
                        {"invalid", json_list(report.invalid, json_dropped)},
                        {"rules", json_rows(rule_fields(), report.rules)},
                        {"counts",
                         {{"kept", count_all(report.kept, report.kept_besides)},
                          {"pruned", count_all(report.pruned, report.pruned_besides)},
                          {"invalid", count_all(report.invalid, report.invalid_besides)}}}});
}

std::string summary_line(const PlanReport& report) {
  const std::string problem =
      report.seq_len ? fmt::format(", for sequences of {}", *report.seq_len) : "";
  return fmt::format("space {} of {}{}: {} kept, {} pruned, {} invalid", report.space,
                     report.family, problem, count_all(report.kept, report.kept_besides),
                     count_all(report.pruned, report.pruned_besides),
                     count_all(report.invalid, report.invalid_besides));
}

Blocks samples(const PlanReport& report) {
  if (report.kept_besides + report.pruned_besides + report.invalid_besides == 0) {
    return {};
  }
  return {
      block::ParagraphEnd{},
      block::Text{fmt::format("the list is a random sample: {} kept, {} pruned, {} invalid\n",
                              report.kept.size(), report.pruned.size(), report.invalid.size())}};
}

Blocks waiting_rules(const PlanReport& report) {
  const auto waiting = filtered(report.rules, &RuleCount::waits);
  return waiting.empty()
             ? Blocks{}
             : Blocks{block::ParagraphEnd{}, block::Line{"tried on each problem, or with --seq: " +
                                                         joined(waiting, ", ", &RuleCount::rule)}};
}

Blocks blocks_of(const PlanReport& report, bool with_dropped) {
  Blocks blocks{block::Line{summary_line(report)}};
  append(blocks, samples(report));
  append(blocks, waiting_rules(report));
  for (const std::string& unknown : report.unknown_values) {
    append(blocks, {block::ParagraphEnd{}, block::Line{"invalid: " + unknown}});
  }
  append(blocks,
         {block::Text{"\n"}, block::Rows{table_of(list_fields(), rows_of(report, with_dropped))}});
  if (with_dropped && !report.rules.empty()) {
    append(blocks, {block::Text{"\n"}, block::Rows{table_of(rule_fields(), report.rules)}});
  }
  return blocks;
}

std::optional<DetailValue> preset_detail(const ProblemPreset& preset, const ProblemDetail& detail) {
  const auto found = preset.details.find(&detail);
  return found == preset.details.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace

Document plan_document(const PlanReport& report, bool with_dropped) {
  return {[&report, with_dropped] { return blocks_of(report, with_dropped); },
          [&report, with_dropped] { return records_of(report, with_dropped); },
          [&] { return json_plan(report); }};
}

Fields<ProblemPreset> preset_fields() {
  Fields<ProblemPreset> fields = joined_fields<ProblemPreset>(
      {{{"name", "preset", &ProblemPreset::name},
        {"heads", "heads", &ProblemPreset::heads},
        {"d_head", "d_head", &ProblemPreset::d_head},
        {"dtype", "dtype", [](auto& p) { return dtype_name(p.dtype); }},
        {"causal", "causal", &ProblemPreset::causal}},
       detail_fields<ProblemPreset>(preset_detail, kEverywhere),
       {{"note", "note", kWraps, or_none<&ProblemPreset::note>},
        {"source", "source", &ProblemPreset::source}}});
  // The table has many columns: short headings make room for the notes, and the window's column
  // leaves a narrow terminal last.
  for (Field<ProblemPreset>& field : fields) {
    field.heading = field.name == "kv_heads"   ? "kv"
                    : field.name == "d_head"   ? "d"
                    : field.name == "d_head_v" ? "d_v"
                                               : field.heading;
  }
  std::iter_swap(std::ranges::find(fields, "d_head_v", &Field<ProblemPreset>::name),
                 std::ranges::find(fields, "window", &Field<ProblemPreset>::name));
  return fields;
}

void add_list_command(const Subcommands& all) {
  const auto [sub, options] =
      add_subcommand(all, "list", "Show what a search space keeps, and what its rules drop", list);
  add_kernel_options(sub, options.kernels, SpaceOption::yes);
  add_problem_options(sub, options.problems, "none: see below");
  add_arch_option(sub, options.arch);
  sub.add_flag("--presets", options.presets,
               "list the published models that --preset knows, and their sources")
      ->group(option_group::kOutput);
  sub.add_flag("--pruned", options.with_dropped, "list the dropped configurations too, and why")
      ->group(option_group::kOutput);
  add_output_options(sub, options.output);
  add_view_options(sub, options.output.view);
  sub.footer(
      R"(Rules that need a problem or a device are applied with --seq only: to problems of that length, on the
device that --arch stands for (default: sm_90a). 'fatune sweep' applies them to each of its problems.
Examples:
  fatune list
  fatune list --space tune --pruned
  fatune list --family flash_sm90 --seq 512 --dhead 128 --pruned
  fatune list --space 64,32 --format json
  fatune list --pruned --filter "status == 'pruned'" --columns rule,config
  fatune list --presets
  fatune list --kernel-dir my_kernels --family my_attention)");
}

}  // namespace fatune

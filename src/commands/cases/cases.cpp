#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/file_tree.hpp"
#include "base/json_file.hpp"
#include "base/ranges.hpp"
#include "base/text_parts.hpp"
#include "base/visible_text.hpp"
#include "cli/subcommands.hpp"
#include "commands/row_reports.hpp"
#include "engine/choice/plan_problems.hpp"
#include "engine/compiling.hpp"
#include "engine/interrupt.hpp"
#include "engine/session.hpp"
#include "model/config.hpp"
#include "model/emulation.hpp"
#include "model/flop.hpp"
#include "model/outcome.hpp"
#include "model/record_json.hpp"
#include "plan/family.hpp"
#include "plan/parameter.hpp"
#include "plan/planner.hpp"
#include "plan/space.hpp"
#include "plan/text_cursor.hpp"
#include "print/comparisons.hpp"
#include "race/ranking.hpp"

namespace fatune {
namespace {

/// A part of a space that is tuned separately.
struct CaseVariant {
  std::string name;
  std::string where;                                        ///< file and pointer, for messages
  std::vector<std::pair<std::string, std::string>> values;  ///< parameters with required values
};

/// configs/cases/<key>.json: variants of a kernel that are compared on several lengths.
struct CaseSet {
  std::string name;  ///< key or path
  std::string file;  ///< its name in messages
  std::string summary;
  std::string family;
  std::string space;
  ProblemOptions problem;  ///< includes the lengths
  std::vector<CaseVariant> variants;
  std::vector<std::string> shown;  ///< parameters and derived quantities
};

constexpr std::string_view kCaseFolder = "configs/cases/";
constexpr std::string_view kCaseEnding = ".json";

std::vector<std::string> case_keys(const FileTree& tree) {
  std::vector<std::string> keys = tree.list(kCaseFolder);
  for (std::string& key : keys) {
    key = key.substr(kCaseFolder.size(), key.size() - kCaseFolder.size() - kCaseEnding.size());
  }
  return keys;
}

JsonFile open_case_file(const FileTree& tree, const std::string& text) {
  if (is_space_file(text)) {
    return load_json_from_disk(tree, text, "case_set");
  }
  const std::vector<std::string> keys = case_keys(tree);
  if (!is_among(text, keys)) {
    throw Error(ExitCode::usage, fmt::format("there are no cases '{}'", printable(text)), "CASES",
                fmt::format("known: {}; or give a file ending in .json", fmt::join(keys, ", ")));
  }
  return load_json(tree, fmt::format("{}{}{}", kCaseFolder, text, kCaseEnding), "case_set");
}

ProblemOptions read_case_problem(const JsonNode& root) {
  const JsonNode node = root.at("problem");
  ProblemOptions problem;
  problem.batch = node.at("batch").integer();
  problem.heads = node.at("heads").integer();
  problem.d_heads = {node.at("d_head").integer()};
  problem.dtypes = {parse_dtype(node.at("dtype").text())};
  problem.causal = node.at("causal").boolean();
  problem.seq_lens = mapped(root.at("seq_lens").elements(), &JsonNode::integer);
  return problem;
}

CaseVariant read_variant(const JsonNode& node) {
  const JsonNode values = node.at("values");
  CaseVariant variant{node.at("name").text(), values.where(), {}};
  for (const auto& [name, value] : values.members()) {
    variant.values.emplace_back(name, value.text());
  }
  return variant;
}

/// Returns the parameter's index in the family, and its parsed value.
std::pair<std::size_t, ParamValue> resolve(const CaseVariant& variant, const Family& family,
                                           const std::string& name, const std::string& text) {
  const auto parameter = find_parameter(family, name);
  if (!parameter) {
    throw Error(ExitCode::bad_file, fmt::format("{} has no parameter '{}'", family.name, name),
                variant.where);
  }
  try {
    return {*parameter, parse_value(family.parameters[*parameter], text)};
  } catch (const Error& error) {
    throw Error(ExitCode::bad_file, error.what_was_wrong(), variant.where, error.remedy());
  }
}

/// Loads a case set by its key, or by a path (it has a '/' or ends in .json). Throws Error(usage)
/// for an unknown key, with the known ones, and Error(bad_file) for an invalid file.
CaseSet load_case_set(const FileTree& tree, const std::string& text) {
  const JsonFile file = open_case_file(tree, text);
  const JsonNode root = file.root();
  return {text,
          file.origin(),
          root.at("summary").text(),
          root.at("family").text(),
          root.at("space").text(),
          read_case_problem(root),
          mapped(root.at("variants").elements(), read_variant),
          mapped(root.at("shown").elements(), &JsonNode::text)};
}

void complete_by(const CaseSet& set, ProblemOptions& problems) {
  const auto complete = [&](auto member) {
    auto& value = problems.*member;
    if (value == std::remove_reference_t<decltype(value)>()) {
      value = set.problem.*member;
    }
  };
  complete(&ProblemOptions::seq_lens);
  complete(&ProblemOptions::d_heads);
  complete(&ProblemOptions::dtypes);
  complete(&ProblemOptions::batch);
  complete(&ProblemOptions::heads);
  complete(&ProblemOptions::causal);
}

/// Returns the configurations of `all` that belong to the variant. Throws Error(bad_file) if the
/// family lacks a parameter of the variant, or the parameter lacks the value.
std::vector<Config> configs_of(const CaseVariant& variant, const Family& family,
                               const std::vector<Config>& all) {
  std::vector<Config> configs = all;
  for (const auto& [name, text] : variant.values) {
    const auto [parameter, value] = resolve(variant, family, name, text);
    std::erase_if(configs, [parameter = parameter, value = value](const Config& config) {
      return config.values[parameter] != value;
    });
  }
  return configs;
}

struct CasesOptions : MeasureOptions {
  std::string cases;  ///< key or file
};

/// Takes unset options from the case set. Each run gets its part of the budget.
MeasureOptions measure_options(const CasesOptions& options, const CaseSet& set) {
  MeasureOptions all = options;
  complete_by(set, all.problems);
  if (!names_families(all.kernels)) {
    all.kernels.family = set.family;
  }
  all.kernels.space = all.kernels.space.value_or(set.space);
  all.policy.budget_s /= static_cast<double>(set.variants.size() + 1);
  return all;
}

/// Throws Error(bad_file) if a shown name is neither a parameter nor a derived quantity. Called
/// before anything is measured.
void check_shown(const CaseSet& set, const Family& family) {
  for (const std::string& name : set.shown) {
    const bool follows = is_among(name, family.derived, &Derived::name);
    if (!follows && !find_parameter(family, name)) {
      throw Error(ExitCode::bad_file,
                  fmt::format("{} has neither a parameter nor a quantity '{}'", family.name, name),
                  set.file + ": /shown");
    }
  }
}

/// Precondition: check_shown() accepts the name.
NamedValue shown_value(const Family& family, const Result& result, const Problem& problem,
                       const DeviceLimits& limits, const std::string& name) {
  if (const auto parameter = find_parameter(family, name)) {
    return {name, value_text(family.parameters[*parameter], result.config.values.at(*parameter))};
  }
  return {name,
          fmt::format("{}", find_quantity({family, result.config, problem, limits}, name).value())};
}

/// The cases of a set. Each variant is tuned separately, and on a GPU the best ones are then timed
/// side by side.
class Cases {
 public:
  Cases(const CaseSet& set, MeasureOptions options, KernelSet kernels, Space space)
      : set_(set),
        options_(std::move(options)),
        space_(std::move(space)),
        run_{std::move(kernels), space_.key, {}, std::nullopt, 0},
        target_(choose_targets(options_.target, run_.kernels.tree, run_.kernels.families.all())
                    .front()) {
    options_.device_rates = false;  // cases are compared with one another
    const Plan plan = make_plan(family(), space_, binding_of(options_.problems));
    for (const CaseVariant& variant : set_.variants) {
      plans_.push_back(problems_of(variant, plan));
    }
    say_left_out(options_.problems, plans_.front(), options_.output);
    check_shown(set_, family());
  }

  [[nodiscard]] const Target& target() const { return target_; }

  [[nodiscard]] CasesReport measure_all(CubinCache* cache) {
    CasesReport report;
    report.name = set_.name;
    report.summary = set_.summary;
    report.family = family().name;
    report.space = space_.key;
    report.measured = target_.measured();
    for (std::size_t i = 0; i < plans_.size() && report.complete; ++i) {
      const RunEnd end = measure_plan(plans_[i], options_, cache, report);
      add_results(set_.variants[i].name, end.report, report.results);
    }
    order(report.results);
    if (report.complete && report.measured && plans_.size() > 1) {
      time_side_by_side(cache, report);
    }
    for (CaseResult& result : report.results) {
      add_shown(result);
    }
    compare_cases(report.results);
    return report;
  }

 private:
  [[nodiscard]] const Family& family() const { return run_.kernels.family(); }

  [[nodiscard]] std::vector<ProblemPlan> problems_of(const CaseVariant& variant,
                                                     const Plan& plan) const {
    const std::vector<FamilyPlan> plans{
        {&family(), Plan{configs_of(variant, family(), plan.kept), {}, plan.waiting}}};
    std::vector<ProblemPlan> problems = plan_problems(plans, options_.problems);
    prune_problems(plans, target_.limits, problems);
    if (problems.empty()) {
      throw Error(ExitCode::nothing_ranked,
                  fmt::format("space {} keeps no configuration of {}", space_.key, variant.name),
                  {}, "'fatune list --pruned' with the same options says why");
    }
    return problems;
  }

  [[nodiscard]] RunEnd measure_plan(const std::vector<ProblemPlan>& problems,
                                    const MeasureOptions& options, CubinCache* cache,
                                    CasesReport& report) {
    run_.problems = problems;
    RunEnd end = measure(options, run_, target_, {}, cache);
    report.device = end.report.device;
    report.toolchain = end.report.toolchain;
    report.complete = end.complete;
    return end;
  }

  static void add_results(const std::string& variant, const RunReport& run,
                          std::vector<CaseResult>& results) {
    for (const ProblemReport& problem : run.problems) {
      CaseResult& result = results.emplace_back();
      result.variant = variant;
      result.problem = problem.problem;
      result.candidates = count_candidates(problem);
      if (!problem.ranking.empty()) {
        result.best = problem.ranking.front();
      } else if (!problem.failures.empty()) {
        result.detail = outcome_summary(problem.failures.front().outcome);
      }
    }
  }

  /// Sorts by problem, in the order of the first variant's problems, then by variant.
  static void order(std::vector<CaseResult>& results) {
    const std::vector<CaseResult> all = results;
    const auto place = [&](const CaseResult& result) {
      return std::ranges::find(all, result.problem, &CaseResult::problem);
    };
    std::ranges::stable_sort(
        results, [&](const CaseResult& a, const CaseResult& b) { return place(a) < place(b); });
  }

  /// Times the best configurations in one run. Times of different runs do not compare well, because
  /// the GPU is warmer in the second.
  void time_side_by_side(CubinCache* cache, CasesReport& report) {
    std::vector<ProblemPlan> finals;
    for (const CaseResult& result : report.results) {
      if (finals.empty() || finals.back().problem != result.problem) {
        finals.emplace_back().problem = result.problem;
      }
      if (result.best) {
        finals.back().configs.push_back(result.best->config);
      }
    }
    MeasureOptions options = options_;
    options.policy.strategy = Strategy::exhaustive;
    const RunEnd end = measure_plan(finals, options, cache, report);
    for (CaseResult& result : report.results) {
      take_final_time(end.report, result);
    }
  }

  static void take_final_time(const RunReport& finals, CaseResult& result) {
    for (const ProblemReport& problem : finals.problems) {
      for (const Result& timed : problem.ranking) {
        if (problem.problem == result.problem && result.best &&
            timed.config == result.best->config) {
          result.best = timed;
        }
      }
    }
  }

  void add_shown(CaseResult& result) const {
    for (const std::string& name : set_.shown) {
      if (result.best) {
        result.shown.push_back(
            shown_value(family(), *result.best, result.problem, target_.limits, name));
      }
    }
  }

  const CaseSet& set_;
  MeasureOptions options_;
  Space space_;
  PlannedRun run_;
  Target target_;
  std::vector<std::vector<ProblemPlan>> plans_;  ///< one for each variant
};

ExitCode exit_code_of(const CasesReport& report) {
  const bool all_have_a_time = std::ranges::all_of(
      report.results, [](const CaseResult& result) { return result.best.has_value(); });
  return !report.complete  ? ExitCode::interrupted
         : all_have_a_time ? ExitCode::ok
                           : ExitCode::nothing_ranked;
}

ExitCode cases(const CasesOptions& options) {
  const CaseSet set = load_case_set(FileTree(), options.cases);
  MeasureOptions measured = measure_options(options, set);
  KernelSet kernels = choose_kernels(measured.kernels);
  Space space = choose_space(kernels, measured.kernels);
  Cases all(set, std::move(measured), std::move(kernels), std::move(space));
  const InterruptWatch watch;
  const auto cache = open_cache(options.compile);
  announce_estimate(all.target(), options);
  const CasesReport report = all.measure_all(cache.get());
  print_document(cases_document(report), options.output);
  return exit_code_of(report);
}

/// `amount` per microsecond of the best configuration's time, times `factor`; nothing without one.
std::optional<double> of_best_us(const CaseResult& r, double amount, double factor) {
  return if_any(r.best, [&](auto& best) { return per_us(best.outcome, amount, factor); });
}

template <typename Get>
auto of_code(const CaseResult& r, const Get& get) {
  return r.best && r.best->facts ? std::optional(std::invoke(get, *r.best)) : std::nullopt;
}

Fields<CaseResult> leading_fields() {
  return {
      {"variant", "variant", &CaseResult::variant},
      {"problem", "problem", kProgramsOnly, [](auto& r) { return describe(r.problem); }},
      {"seq_len", "N_CTX", [](auto& r) { return r.problem.seq_len; }},
      {"candidates", "tried", kProgramsOnly, &CaseResult::candidates},
      {"time_ms", "ms", decimals(4),
       [](auto& r) { return if_any(r.best, [](auto& b) { return ranked_us(b.outcome) / 1e3; }); }},
      {"tflops", "TFLOPS", decimals(1),
       [](auto& r) { return of_best_us(r, literature_flop(r.problem), kFlopPerUsToTflops); }},
      {"gbps", "GB/s", decimals(1),
       [](auto& r) { return of_best_us(r, needed_bytes(r.problem), kBytesPerUsToGbps); }},
      {"memory_mb", "MB", decimals(2), [](auto& r) { return needed_bytes(r.problem) / 1e6; }},
      {"speed_up", "speed-up", decimals(3), &CaseResult::speed_up},
      {"scaling", "scaling", decimals(2), &CaseResult::scaling},
  };
}

Fields<CaseResult> resource_columns() {
  return {
      {"registers_per_thread", "regs",
       [](auto& r) { return of_code(r, [](auto& e) { return e.facts->registers_per_thread; }); }},
      {"smem_bytes", "smem",
       [](auto& r) {
         return of_code(r,
                        [](auto& e) { return e.dynamic_smem_bytes + e.facts->static_smem_bytes; });
       }},
      {"blocks_per_sm", "blk/SM", [](auto& r) { return of_code(r, &Result::blocks_per_sm); }},
      {"measured", "measured", kProgramsOnly,
       [](auto& r) { return r.best && std::holds_alternative<Measured>(r.best->outcome); }},
      {"verified", "verified",
       [](auto& r) {
         return if_any(r.best, [](auto& b) { return text_or_none(verified_by(b.outcome)); });
       }},
      {"config", "best", kProgramsOnly,
       [](auto& r) { return if_any(r.best, &Result::short_form); }},
      {"detail", "why not", kProgramsOnly, or_none<&CaseResult::detail>},
  };
}

/// Appends the parameters to show, with "-" for a case without a best configuration.
void append_shown(const std::vector<CaseResult>& results, Table& table) {
  const auto shown =
      std::ranges::find_if(results, [](const CaseResult& r) { return !r.shown.empty(); });
  for (std::size_t i = 0; shown != results.end() && i < shown->shown.size(); ++i) {
    const std::string& name = shown->shown[i].name;
    append_column_of(
        table, {.name = name, .heading = name, .figure = true}, results,
        [&](const CaseResult& r) { return i < r.shown.size() ? r.shown[i].text : "-"; });
  }
}

Table records_of(const CasesReport& report) {
  Table table = table_of(case_fields(), report.results);
  append_shown(report.results, table);
  return table;
}

Json json_case(const CaseResult& result) {
  Json json = json_object(case_fields(), result);
  json["problem"] = record_json(result.problem);
  json["parameters"] = parameters_json(result.shown);
  return json;
}

Json json_cases(const CasesReport& report) {
  return json_document("cases", {{"cases", report.name},
                                 {"measured", report.measured},
                                 {"complete", report.complete},
                                 {"family", report.family},
                                 {"space", report.space},
                                 {"toolchain", record_json(report.toolchain)},
                                 {"device", record_json(report.device)},
                                 {"results", json_list(report.results, json_case)}});
}

Coverage coverage_of(const CasesReport& report) {
  const auto done =
      std::ranges::count_if(report.results, [](const CaseResult& r) { return r.best.has_value(); });
  return {static_cast<std::size_t>(done), report.results.size(), report.complete};
}

std::string best_lines(const CasesReport& report) {
  return joined(report.results, "", [&](const CaseResult& r) {
    return fmt::format(
        "{} at {}: {}\n", visible_line(r.variant), r.problem.seq_len,
        visible_line(r.best ? r.best->short_form : "no configuration has a time: " + r.detail));
  });
}

Blocks blocks_of(const CasesReport& report) {
  const block::Warning unmeasured{
      "NOT MEASURED: nothing was timed; every time is an estimate (docs/estimate.md)"};
  Blocks blocks;
  if (!report.measured) {
    append(blocks, {unmeasured, block::ParagraphEnd{}});
  }
  append(blocks,
         {block::Line{fmt::format("{}: {}", report.name, report.summary)}, block::ParagraphEnd{},
          block::Line{fmt::format("{} ({}) | {}, space {}", report.device.name,
                                  arch_name(report.device.arch), report.family, report.space)},
          block::ParagraphEnd{}});
  if (!report.results.empty()) {
    append(blocks, {block::Rows{records_of(report)}, block::Text{"\n"}});
  }
  append(blocks,
         {block::Verbatim{best_lines(report)}, block::Text{incomplete_text(coverage_of(report))}});
  if (!report.measured) {
    append(blocks, {block::Text{"\n"}, unmeasured});
  }
  return blocks;
}

}  // namespace

Fields<CaseResult> case_fields() {
  return joined_fields<CaseResult>({leading_fields(), resource_columns()});
}

Document cases_document(const CasesReport& report) {
  return {[&] { return blocks_of(report); }, [&] { return records_of(report); },
          [&] { return json_cases(report); }};
}

void add_cases_command(const Subcommands& all) {
  const auto [sub, options] =
      add_subcommand(all, "cases", "Tune variants of a kernel separately, and compare them", cases);
  sub.add_option("CASES", options.cases, "hopper, or a file such as configs/cases/hopper.json")
      ->type_name("CASES|FILE")
      ->required();
  add_problem_options(sub, options.problems, "those of the cases");
  add_kernel_options(sub, options.kernels, SpaceOption::of_file);
  add_target_options(sub, options.target);
  add_compile_settings(sub, options.compile);
  add_emulate_option(sub, options.emulate);
  add_policy_options(sub, options, Strategy::race);
  add_store_options(sub, options.store);
  add_output_options(sub, options.output);
  sub.footer(
      R"(Each variant is tuned over its part of the space, and the best ones are then timed side by side. What
problem options, --family and --space do not set comes from the cases.

Examples:
  fatune cases hopper
  fatune cases hopper --seq 256,1024,16384 --heads 16 --dhead 64 --format md
  fatune cases ./my_cases.json --format json)");
}

}  // namespace fatune

#include <map>
#include <utility>

#include "app/choice/plan_problems.hpp"
#include "app/choice/target.hpp"
#include "app/run/stored_reports.hpp"
#include "commands/sass/sass_code.hpp"
#include "emit/sass_why_report.hpp"
#include "engine/interrupt.hpp"
#include "plan/config_text.hpp"
#include "plan/planner.hpp"

namespace fatune {
namespace {

struct SassWhyOptions : OfflineOptions {
  std::optional<std::filesystem::path> db_file;
  bool with_run = false;            ///< use a stored run instead of a space
  std::optional<std::int64_t> run;  ///< absent: the run that began last
};

/// A configuration to compile for a problem, with the time that a run measured.
struct Case {
  Config config;
  Problem problem;
  std::optional<double> time_us;  ///< absent: nothing was measured
  std::string artifact_key;       ///< names the code that the run measured; empty: there is no run
};

struct CaseCounts {
  Case what;
  WorkCounts counts;
};

std::vector<Case> cases_of_space(const SassWhyOptions& options, const KernelSet& kernels,
                                 SassWhyReport& report) {
  const Family& family = kernels.family();
  const Space space = choose_space(kernels, options.kernels);
  report.space = space.key;
  const std::int64_t seq_len = first_seq_len(options.problems);
  std::vector<Case> cases;
  for (const Config& config : make_plan(family, space, binding_of(options.problems)).kept) {
    cases.push_back({config, problem_for(family, config, options.problems, seq_len), {}, {}});
  }
  return cases;
}

/// Returns a measured time. An estimate has none: it is computed from instruction counts, so that
/// their correlation with it would say nothing about a GPU.
std::optional<double> measured_us(const Outcome& outcome) {
  return std::holds_alternative<Measured>(outcome) ? std::optional(ranked_us(outcome))
                                                   : std::nullopt;
}

/// Returns every ranked configuration of a run that is of these families, once for each problem.
std::vector<Case> cases_of_run(const RunReport& run, const FamilySet& families) {
  std::vector<Case> cases;
  for (const ProblemReport& problem : run.problems) {
    for (const Result& result : problem.ranking) {
      if (families.find(result.config.family) != nullptr) {
        cases.push_back(
            {result.config, problem.problem, measured_us(result.outcome), result.artifact_key});
      }
    }
  }
  return cases;
}

std::vector<CaseCounts> count_all(const FamilySet& families, const std::vector<Case>& cases,
                                  const DeviceLimits& limits, const CompileSettings& settings,
                                  SassWhyReport& report) {
  std::vector<Config> configs;
  std::vector<Problem> problems;
  for (const Case& one : cases) {
    configs.push_back(one.config);
    problems.push_back(one.problem);
  }
  const auto codes = compile_code(families, configs, problems, limits, settings);
  std::vector<CaseCounts> counted;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const auto counts = codes[i]
                            ? work_counts(profile_function(codes[i]->listing, codes[i]->kernel()))
                            : std::nullopt;
    if (!counts) {
      report.left_out += InterruptWatch::interrupted() ? 0 : 1;  // an interrupt leaves code undone
      continue;
    }
    const std::string& of_run = cases[i].artifact_key;
    report.other_code += !of_run.empty() && of_run != codes[i]->artifact_key ? 1 : 0;
    counted.push_back({cases[i], *counts});
  }
  report.coverage = {counted.size(), cases.size(), !InterruptWatch::interrupted()};
  return counted;
}

/// Returns each configuration once, even if it was measured on several problems.
std::vector<WorkSample> distinct_samples(const FamilySet& families,
                                         const std::vector<CaseCounts>& all) {
  std::map<Config, WorkSample> samples;
  for (const CaseCounts& one : all) {
    samples.try_emplace(
        one.what.config,
        WorkSample{one.what.config, named_values(families.of(one.what.config), one.what.config),
                   one.counts});
  }
  std::vector<WorkSample> list;
  for (auto& [config, sample] : samples) {
    list.push_back(std::move(sample));
  }
  return list;
}

/// Computes the correlations of each problem. Families are kept apart, because their instructions
/// do different work.
std::vector<WhyProblem> correlate(const std::vector<CaseCounts>& all, bool several_families,
                                  double confidence) {
  std::map<std::string, std::pair<std::vector<WorkCounts>, std::vector<double>>> problems;
  for (const CaseCounts& one : all) {
    if (one.what.time_us) {
      auto& [counts, times_us] =
          problems[describe(one.what.problem) +
                   (several_families ? ", " + one.what.config.family : std::string())];
      counts.push_back(one.counts);
      times_us.push_back(*one.what.time_us);
    }
  }
  std::vector<WhyProblem> list;
  for (const auto& [name, both] : problems) {
    list.push_back({name, time_correlations(both.first, both.second, confidence)});
  }
  return list;
}

/// Shows the effect of parameters on the machine code, and its correlation with measured times.
ExitCode sass_why(const SassWhyOptions& options) {
  std::optional<RunReport> run;
  if (options.with_run) {
    run = stored_report(options.db_file, options.run);
  }
  const KernelSet kernels =
      run ? choose_families_of(*run, options.kernels) : choose_kernels(options.kernels);
  const FamilySet& families = kernels.families;
  SassWhyReport report;
  report.family = families.names();
  report.run = options.run;
  std::vector<Case> cases;
  DeviceLimits limits;
  if (run) {
    report.space = run->space;
    report.device = run->device.name;
    report.measured = run->measured;
    report.confidence = run->policy.confidence;
    limits = run->device;
    cases = cases_of_run(*run, families);
  } else {
    limits = offline_target(options.arch, kernels.tree, families.all()).limits;
    cases = cases_of_space(options, kernels, report);
  }
  report.target = arch_name(limits.arch);
  const InterruptWatch watch;
  const std::vector<CaseCounts> counted =
      count_all(families, cases, limits, options.compile, report);
  const std::vector<WorkSample> samples = distinct_samples(families, counted);
  for (const WorkSample& sample : samples) {
    report.samples.push_back(
        {short_form(families.of(sample.config), sample.config), sample.counts});
  }
  report.effects = parameter_effects(samples);
  report.problems = correlate(counted, families.several(), report.confidence);
  print_document(sass_why_document(report, rows_shown(options.output)), options.output);
  if (!report.coverage.complete) {
    return ExitCode::interrupted;
  }
  return report.samples.empty() ? ExitCode::nothing_ranked : ExitCode::ok;
}

}  // namespace

void add_sass_why_command(const Subcommands& all) {
  const auto [sub, options] = add_subcommand(
      all, "why", "Which parameter changes which instructions, and which correlate with the time",
      sass_why);
  add_kernel_options(sub, options.kernels, SpaceOption::yes);
  add_problem_options(sub, options.problems, kCompiledSeqLen);
  add_arch_option(sub, options.arch);
  add_text_option(sub, "--run", "N|last",
                  "the configurations, problems and times of a stored run instead of a space",
                  [&options = options](const std::string& text) {
                    options.with_run = true;
                    options.run = parse_run(text, "--run");
                  })
      ->excludes("--space")
      ->excludes("--arch")
      ->group(option_group::kKernels);
  add_db_option(sub, options.db_file);
  add_compile_settings(sub, options.compile);
  add_output_options(sub, options.output);
  add_top_option(sub, options.output);
  sub.footer(R"(Examples:
  fatune sass why --space tune --arch sm_90a
  fatune sass why --run last)");
}

}  // namespace fatune

#include <fmt/format.h>

#include "base/descriptor.hpp"
#include "base/environment.hpp"
#include "base/ranges.hpp"
#include "base/text_parts.hpp"
#include "cli/subcommands.hpp"
#include "commands/profile/profile.hpp"
#include "engine/choice/plan_problems.hpp"
#include "plan/config_text.hpp"
#include "plan/planner.hpp"
#include "print/files.hpp"
#include "store/study_inputs.hpp"

namespace fatune {
namespace {

std::vector<ProfileCase> first_of(const ProblemReport& report, const FamilySet& families, int top) {
  std::vector<ProfileCase> cases;
  for (const Result& result : report.ranking) {
    const bool more = top == 0 || cases.size() < static_cast<std::size_t>(top);
    if (more && families.find(result.config.family) != nullptr &&
        std::holds_alternative<Measured>(result.outcome)) {
      cases.push_back({result.config, ranked_us(result.outcome)});
    }
  }
  return cases;
}

ProfilePlan plan_of_run(const ProfileOptions& options) {
  const RunReport run = stored_report(options.db_file, options.run);
  ProfilePlan plan{choose_families_of(run, options.kernels), {}, {}};
  for (const ProblemReport& report : run.problems) {
    std::vector<ProfileCase> cases = first_of(report, plan.kernels.families, options.top);
    if (!cases.empty() && is_asked_for(report.problem, options.problems) &&
        !is_among(report.problem, plan.problems, &ProfileProblem::problem)) {
      plan.problems.push_back({report.problem, std::move(cases)});
    }
  }
  return plan;
}

ProfilePlan plan_of_options(const ProfileOptions& options) {
  ProfilePlan plan{choose_kernels(options.kernels, options.configs), {}, {}};
  const KernelSet& kernels = plan.kernels;
  const Family& family = kernels.family();
  const Plan configs =
      options.configs.empty()
          ? make_plan(family, choose_space(kernels, options.kernels), binding_of(options.problems))
          : Plan{parse_configs(kernels.families, options.configs, options.problems), {}};
  const std::vector<ProblemPlan> problems = plan_problems({{&family, configs}}, options.problems);
  say_left_out(options.problems, problems, options.output);
  for (const ProblemPlan& problem : problems) {
    plan.problems.push_back({problem.problem, mapped(problem.configs, [](const Config& config) {
                               return ProfileCase{config, std::nullopt};
                             })});
  }
  return plan;
}

bool has_case(const ProfileProblem& problem, const Config& config) {
  return is_among(config, problem.cases, &ProfileCase::config);
}

void add_baseline(const std::string& text, ProfilePlan& plan) {
  plan.baseline = parse_configs(plan.kernels.families, {text}).front();
  const Family& family = plan.kernels.families.of(*plan.baseline);
  for (ProfileProblem& problem : plan.problems) {
    if (!has_case(problem, *plan.baseline) &&
        !check_valid(family, *plan.baseline, &problem.problem)) {
      problem.cases.push_back({*plan.baseline, std::nullopt});
    }
  }
  if (std::ranges::none_of(plan.problems, [&](const ProfileProblem& problem) {
        return has_case(problem, *plan.baseline);
      })) {
    fail_unplanned_baseline(family, *plan.baseline, "it is valid for none of the problems");
  }
}

namespace fs = std::filesystem;

std::string problem_words(const ProfileOptions& options, const Family& family,
                          const Problem& problem) {
  std::string words = fmt::format(
      "--family {} --seq {} --dhead {} --dtype {} --batch {} --heads {}", shell_word(family.name),
      problem.seq_len, problem.d_head, dtype_name(problem.dtype), problem.batch, problem.heads);
  words += problem.causal ? " --causal" : "";
  for (const ProblemDetail& detail : kProblemDetails) {
    if (is_unusual(detail, problem)) {
      words += fmt::format(" {} {}", detail.option, detail_text(detail, problem));
    }
  }
  for (const fs::path& dir : options.kernels.kernel_dirs) {
    words += " --kernel-dir " + shell_word(fs::absolute(dir).string());
  }
  return words;
}

/// Returns the problem's configurations as options of a command, by family.
std::map<std::string, std::string> config_options(const ProfilePlan& plan,
                                                  const ProfileProblem& problem) {
  std::map<std::string, std::string> options;
  for (const ProfileCase& one : problem.cases) {
    options[one.config.family] +=
        " \\\n  --config " +
        shell_word(short_form(plan.kernels.families.of(one.config), one.config));
  }
  return options;
}

std::string script(const std::string& purpose, const std::string& commands) {
  return fmt::format(R"(#!/usr/bin/env bash
# {}
# Reports go to the folder that the first argument names (default: profiles). On a cluster, run:
#   sbatch --gres=gpu:1 --time=00:15:00 <this script>
set -euo pipefail
fatune="${{FATUNE:-fatune}}"
out="${{1:-profiles}}"
{})",
                     purpose, commands);
}

fs::path write_script(const fs::path& file, const std::string& text) {
  write_output_file(file, text);
  fs::permissions(file, fs::perms::owner_exec | fs::perms::group_exec | fs::perms::others_exec,
                  fs::perm_options::add);
  return file;
}

std::string run_all(const std::vector<fs::path>& scripts) {
  return "#!/usr/bin/env bash\n# Runs every script beside it, one after another.\nset -euo "
         "pipefail\n"
         "here=\"$(cd -P -- \"$(dirname -- \"${BASH_SOURCE[0]}\")\" && pwd)\"\n" +
         joined(scripts, "", [](const fs::path& one) {
           return fmt::format("\"$here\"/{} \"$@\"\n", one.filename().string());
         });
}

/// Plans the configurations of the options, on their problems. For a stored run, plans the first of
/// each of its rankings instead, on the run's problems that match the options. The baseline is
/// added to every problem that it fits. Throws Error(usage) if nothing is left.
ProfilePlan plan_profile(const ProfileOptions& options) {
  ProfilePlan plan = options.with_run ? plan_of_run(options) : plan_of_options(options);
  if (plan.problems.empty()) {
    throw Error(ExitCode::usage, "there is nothing to profile", {},
                options.with_run ? "the run has no measured configuration for such a problem"
                                 : "the space has no configuration for these problems");
  }
  if (options.baseline) {
    add_baseline(*options.baseline, plan);
  }
  return plan;
}

/// Writes scripts (bash, executable) that profile the plan on another machine, such as a cluster's
/// node: one for Nsight Compute (all its sections, raw and text reports) for each configuration and
/// problem, one for Nsight Systems for each problem, and one that runs them all. They call fatune
/// (or what FATUNE names) and say how to submit them. Returns their paths, in that order. Throws
/// Error(io) if they cannot be written.
std::vector<fs::path> write_profile_scripts(const ProfileOptions& options, const ProfilePlan& plan,
                                            const fs::path& folder) {
  const FamilySet& families = plan.kernels.families;
  std::vector<fs::path> scripts;
  for (const ProfileProblem& problem : plan.problems) {
    const std::string stem = file_name_part(problem.problem);
    for (std::size_t i = 0; i < problem.cases.size(); ++i) {
      const Family& family = families.of(problem.cases[i].config);
      const std::string config =
          " \\\n  --config " + shell_word(short_form(family, problem.cases[i].config));
      scripts.push_back(write_script(
          folder / fmt::format("ncu_{}_{}.sh", stem, i + 1),
          script("Profiles one configuration with Nsight Compute, all sections.",
                 fmt::format("\"$fatune\" profile {}{} \\\n  --metrics full --runs {} --out "
                             "\"$out\"/ncu_{}_{}\n",
                             problem_words(options, family, problem.problem), config, options.runs,
                             stem, i + 1))));
    }
    for (const auto& [name, configs] : config_options(plan, problem)) {
      const std::string which = families.several() ? name + "_" : std::string();
      const std::string words = problem_words(options, *families.find(name), problem.problem);
      scripts.push_back(write_script(
          folder / fmt::format("nsys_{}{}.sh", which, stem),
          script("Records a timeline of one problem's configurations with Nsight Systems.",
                 fmt::format("\"$fatune\" profile --nsys {}{} \\\n  --runs {} --out \"$out\"\n",
                             words, configs, options.runs))));
    }
  }
  scripts.push_back(write_script(folder / "all.sh", run_all(scripts)));
  return scripts;
}

std::string source_of(const ProfileOptions& options) {
  if (options.with_run) {
    return options.run ? fmt::format("run {}", *options.run) : "the last run";
  }
  return options.configs.empty() && options.kernels.space ? "space " + *options.kernels.space : "";
}

Target gpu_target(const ProfileOptions& options, const KernelSet& kernels) {
  TargetOptions target = options.target;
  target.require_gpu = true;
  return choose_targets(target, kernels.tree, kernels.families.all()).front();
}

/// The folder for reports: the requested one, else a temporary one.
class ReportFolder {
 public:
  explicit ReportFolder(const std::optional<fs::path>& asked_for) {
    if (asked_for) {
      check_output_file(*asked_for / "profile.json");
      fs::create_directories(*asked_for);
      path_ = *asked_for;
    } else {
      path_ = scratch_.emplace().path();
    }
  }
  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  std::optional<ScratchFolder> scratch_;
  fs::path path_;
};

void write_files(const fs::path& folder, const ProfileReport& report) {
  write_output_file(folder / "profile.json", render(profile_document(report), OutputFormat::json));
  write_output_file(folder / "profile.csv", render(profile_document(report), OutputFormat::csv));
}

bool has_duration(const ProfileReport& report, const Problem& problem, const std::string& config) {
  return std::ranges::any_of(report.rows, [&](const ProfiledConfig& row) {
    return row.problem == problem && row.config == config && row.duration_us;
  });
}

/// Returns the baseline's short form. Precondition: there is a baseline.
std::string baseline_text(const ProfilePlan& plan) {
  return short_form(plan.kernels.families.of(*plan.baseline), *plan.baseline);
}

void note_missing_baseline(const ProfileOptions& options, const ProfilePlan& plan,
                           const ProfileReport& report) {
  for (const ProfileProblem& problem : plan.problems) {
    const std::string baseline = baseline_text(plan);
    if (!has_duration(report, problem.problem, baseline)) {
      print_note(options.output,
                 fmt::format("{}: the baseline has no duration; percentages refer to the fastest",
                             describe(problem.problem)));
    }
  }
}

void complete_report(const ProfileOptions& options, const ProfilePlan& plan, const Target& target,
                     const std::optional<Ncu>& ncu, ProfileReport& report) {
  report.device = target.limits.name;
  report.family = plan.kernels.families.names();
  report.read_by = ncu ? "ncu " + ncu->version : "cupti";
  report.source = source_of(options);
  compare_durations(plan.baseline ? std::optional(baseline_text(plan)) : std::nullopt, report);
}

ExitCode count_launches(const ProfileOptions& options, const ProfilePlan& plan) {
  const Target target = gpu_target(options, plan.kernels);
  const std::optional<Ncu> ncu =
      options.reader == CounterReader::ncu ? std::optional(find_profiler()) : std::nullopt;
  const ReportFolder folder(options.out_dir);
  ProfileReport report = run_profile(options, plan, target, ncu, folder.path());
  complete_report(options, plan, target, ncu, report);
  if (options.out_dir) {
    write_files(*options.out_dir, report);
  }
  if (plan.baseline) {
    note_missing_baseline(options, plan, report);
  }
  print_document(profile_document(report), options.output);
  const bool any = is_among(OutcomeKind::profiled, report.rows, &ProfiledConfig::outcome);
  return !report.coverage.complete ? ExitCode::interrupted
         : any                     ? ExitCode::ok
                                   : ExitCode::nothing_ranked;
}

ExitCode show_imported(const ProfileOptions& options) {
  const KernelSet kernels = choose_kernels(options.kernels);
  ProfileReport report =
      import_profile(*options.imported, kernels.family(), choose_counter_fields(options.metrics));
  report.family = kernels.family().name;
  report.read_by = "ncu";
  report.source = options.imported->filename().string();
  compare_durations(std::nullopt, report);
  print_document(profile_document(report), options.output);
  return report.rows.empty() ? ExitCode::nothing_ranked : ExitCode::ok;
}

ExitCode record_timeline(const ProfileOptions& options, const ProfilePlan& plan) {
  if (!options.out_dir) {
    throw Error(ExitCode::usage, "the timeline needs a folder", "--nsys",
                "name one with --out DIR");
  }
  const Target target = gpu_target(options, plan.kernels);
  const ReportFolder folder(options.out_dir);
  const TimelineReport timeline = run_timeline(options, plan, target, folder.path());
  print_document(timeline_document(timeline), options.output);
  return timeline.coverage.complete ? ExitCode::ok : ExitCode::interrupted;
}

ExitCode write_scripts(const ProfileOptions& options, const ProfilePlan& plan) {
  print_text(joined(write_profile_scripts(options, plan, *options.script_dir), "",
                    [](const fs::path& script) { return script.string() + "\n"; }));
  return ExitCode::ok;
}

ExitCode profile(const ProfileOptions& options) {
  static_cast<void>(choose_counter_fields(options.metrics));
  if (options.all_sections && options.reader == CounterReader::cupti) {
    throw Error(ExitCode::usage, "CUPTI has no sections", "--metrics full",
                "leave --backend cupti out, or choose attention");
  }
  if (options.imported) {
    return show_imported(options);
  }
  const ProfilePlan plan = plan_profile(options);
  return options.script_dir ? write_scripts(options, plan)
         : options.timeline ? record_timeline(options, plan)
                            : count_launches(options, plan);
}

CounterReader parse_reader(const std::string& text) {
  if (text != "ncu" && text != "cupti") {
    throw Error(ExitCode::usage, "there is no backend '" + text + "'", "--backend",
                "choose ncu (Nsight Compute) or cupti (in-process)");
  }
  return text == "ncu" ? CounterReader::ncu : CounterReader::cupti;
}

/// Reads the list of metrics. "full" selects all sections of Nsight Compute, and fatune's own
/// figures of "attention".
void read_metrics(const std::string& text, ProfileOptions& options) {
  options.metrics.clear();
  for (const std::string_view name : split_at_commas(text)) {
    options.all_sections = options.all_sections || name == "full";
    options.metrics.emplace_back(name == "full" ? "attention" : name);
  }
}

void add_subject_options(CLI::App& app, ProfileOptions& options) {
  const OptionScope scope(app, option_group::kKernels);
  add_configs_option(app, options.configs, "configuration, in place of a space; repeatable");
  add_kernel_options(app, options.kernels, SpaceOption::yes);
  add_text_option(app, "--run", "N|last", "the first configurations of a stored run's rankings",
                  [&options](const std::string& text) {
                    options.with_run = true;
                    options.run = parse_run(text, "--run");
                  })
      ->excludes("--space")
      ->excludes("--config");
  constexpr std::int64_t kMostRows = 1000000;
  add_integer(app, "--top", "how many of each ranking of the run; 0: all (default: 5)", 0,
              kMostRows, options.top);
  add_db_option(app, options.db_file);
  add_problem_options(app, options.problems);
}

void add_counting_options(CLI::App& app, ProfileOptions& options) {
  const OptionScope scope(app, option_group::kMeasuring);
  add_text_option(app, "--metrics", "standard|attention|core|full|METRIC,...",
                  "sets of figures (default: standard), figures, or ncu's metrics",
                  [&options](const std::string& text) { read_metrics(text, options); });
  constexpr std::int64_t kMostRuns = 1000;
  add_integer(app, "--runs", "launches that are counted and averaged (default: 3)", 1, kMostRuns,
              options.runs);
  app.add_option("--baseline", options.baseline, "configuration that 'rel %' refers to")
      ->type_name("CONFIG");
  add_value(app, "--backend", "ncu|cupti", "ncu (the default), or cupti: in-process",
            options.reader, parse_reader);
}

/// Adds the options that choose what is written, and the report that is read instead of profiling.
void add_report_options(CLI::App& app, ProfileOptions& options) {
  const OptionScope scope(app, option_group::kOutput);
  add_path_option(app, "--out", "DIR", "profile.json, profile.csv, and the raw reports",
                  options.out_dir);
  app.add_flag("--nsys", options.timeline,
               "a timeline with Nsight Systems in place of counters; needs --out");
  add_path_option(app, "--script", "DIR",
                  "write scripts that profile on another machine; profile nothing here",
                  options.script_dir);
  add_path_option(app, "--import", "FILE",
                  "read a report made elsewhere: .ncu-rep, or what ncu printed with --csv",
                  options.imported)
      ->excludes("--run")
      ->excludes("--script");
  app.add_flag_callback(
      "--csv", [&options] { options.output.format = OutputFormat::csv; },
      "the same as --format csv");
}

}  // namespace

void add_profile_command(const Subcommands& all) {
  const auto [sub, options] = add_subcommand(
      all, "profile", "Read hardware counters: with Nsight Compute, or in-process", profile);
  add_subject_options(sub, options);
  add_counting_options(sub, options);
  add_report_options(sub, options);
  add_target_options(sub, options.target);
  add_compile_settings(sub, options.compile);
  add_output_options(sub, options.output);
  sub.footer(R"(docs/profile.md says what the figures mean, and what reading them requires.
Examples:
  fatune profile --seq 4096 \
    --config "(FP16,128,64,64,4):async+eager+swizzled+load_2_2_2_tiles"
  fatune profile --run last --top 3 --metrics attention --out profiles
  fatune profile --space 64,32 --seq 1024 --dtype fp16 --runs 1 --csv
  fatune profile --space prog --seq 4096 --script scripts_for_the_cluster)");
}

}  // namespace fatune

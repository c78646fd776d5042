#include <string>

#include "cli/numbers.hpp"
#include "cli/option_groups.hpp"
#include "cli/option_scope.hpp"
#include "cli/path_option.hpp"
#include "cli/subcommands.hpp"
#include "cli/text_option.hpp"
#include "commands/profile/profile_command.hpp"
#include "core/error.hpp"

namespace fatune {
namespace {

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

/// Adds the options that choose what is profiled.
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

/// Adds the options that choose how it is profiled.
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
  add_text_option(app, "--backend", "ncu|cupti", "ncu (the default), or cupti: in-process",
                  [&options](const std::string& text) { options.reader = parse_reader(text); });
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
  options.kernels.kernels_variable = all.kernels_variable;
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

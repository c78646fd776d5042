#include "commands/profile/profile_command.hpp"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "app/console/console.hpp"
#include "app/scratch_folder.hpp"
#include "commands/profile/profile_import.hpp"
#include "commands/profile/profile_run.hpp"
#include "commands/profile/profile_scripts.hpp"
#include "core/error.hpp"
#include "counters/counter_fields.hpp"
#include "emit/document/render.hpp"
#include "emit/output_file.hpp"
#include "plan/short_form.hpp"

namespace fatune {
namespace {

namespace fs = std::filesystem;

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

bool any_profiled(const ProfileReport& report) {
  for (const ProfiledConfig& row : report.rows) {
    if (row.outcome == OutcomeKind::profiled) {
      return true;
    }
  }
  return false;
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

ExitCode count(const ProfileOptions& options, const ProfilePlan& plan) {
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
  if (!report.coverage.complete) {
    return ExitCode::interrupted;
  }
  return any_profiled(report) ? ExitCode::ok : ExitCode::nothing_ranked;
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
  std::string list;
  for (const fs::path& script : write_profile_scripts(options, plan, *options.script_dir)) {
    list += script.string() + "\n";
  }
  print_text(list);
  return ExitCode::ok;
}

}  // namespace

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
  if (options.script_dir) {
    return write_scripts(options, plan);
  }
  return options.timeline ? record_timeline(options, plan) : count(options, plan);
}

}  // namespace fatune

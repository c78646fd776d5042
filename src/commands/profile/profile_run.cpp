#include "commands/profile/profile.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "app/console/console.hpp"
#include "app/run/compiling.hpp"
#include "app/run/measuring.hpp"
#include "core/error.hpp"
#include "counters/counter_fields.hpp"
#include "engine/interrupt.hpp"
#include "engine/verifying_kernels.hpp"
#include "process/find_tool.hpp"
#include "process/run_program.hpp"

namespace fatune {
namespace {

namespace fs = std::filesystem;

/// The metrics to count: the requested figures, and the duration, from which others are computed.
CountPlan count_plan(const ProfileOptions& options) {
  std::vector<std::string> names = options.metrics;
  names.emplace_back("duration_us");
  return {options.runs, choose_counter_fields(names), options.all_sections};
}

std::size_t count_cases(const ProfilePlan& plan) {
  std::size_t count = 0;
  for (const ProfileProblem& problem : plan.problems) {
    count += problem.cases.size();
  }
  return count;
}

/// Precondition: the watch of the interrupt is alive.
Coverage coverage_of(const ProfilePlan& plan, const std::vector<ProfiledConfig>& rows) {
  return {rows.size(), count_cases(plan), !InterruptWatch::interrupted()};
}

/// Goes through the plan's problems: compiles and announces each, and lets `count` do the rest.
class ProblemWalk {
 public:
  ProblemWalk(const ProfileOptions& options, const ProfilePlan& plan, const Target& target)
      : options_(options),
        plan_(plan),
        limits_(target.limits),
        cache_(open_cache(options.compile)),
        setup_(gpu_setup(target, target.gpus.front(), options.target, options.output)),
        total_(count_cases(plan)) {
    setup_.sources = read_measurement_sources(plan.kernels.tree);
    setup_.cache = cache_.get();
  }

  /// `count`: (setup, cases, stem, before) -> results of the cases.
  template <typename Count>
  std::vector<ProfiledConfig> walk(const std::vector<CounterField>& fields, Count count) {
    std::vector<ProfiledConfig> rows;
    for (const ProfileProblem& problem : plan_.problems) {
      ProblemProfile profile(options_.compile, plan_.kernels.families, limits_, problem);
      profile.compile(cache_.get());
      setup_.problems = {problem.problem};
      std::vector<CountedCase> counted;
      if (!profile.cases().empty() && !InterruptWatch::interrupted()) {
        counted = count(setup_, profile.cases(), file_name_part(problem.problem),
                        [&](const CandidateKernel& one) { return announce(problem.problem, one); });
      }
      for (ProfiledConfig& row : profile.finish(counted, fields)) {
        rows.push_back(std::move(row));
      }
    }
    return rows;
  }

 private:
  /// Returns false if the user has interrupted the work.
  bool announce(const Problem& problem, const CandidateKernel& kernel) {
    number_ = std::min(number_ + 1, total_);
    print_note(options_.output,
               fmt::format("[{}/{}] {}, {}", number_, total_, describe(problem), kernel.label));
    return !InterruptWatch::interrupted();
  }

  const ProfileOptions& options_;
  const ProfilePlan& plan_;
  const DeviceLimits& limits_;
  std::unique_ptr<CubinCache> cache_;
  MeasuringSetup setup_;
  std::size_t total_;
  std::size_t number_ = 0;
};

std::string installed_nsys() {
  const auto nsys = find_nsys();
  if (!nsys) {
    throw Error(ExitCode::bad_file, "nsys, NVIDIA's Nsight Systems, is not installed", {},
                "install the package nsight-systems, or give its path in FATUNE_NSYS");
  }
  return nsys->string();
}

/// Adds the report's summary of kernels, or of ranges.
void add_summary(const std::string& nsys, const std::string& report, const Problem& problem,
                 bool ranges, std::vector<TimelineRow>& rows) {
  const std::string table =
      run_program(nsys,
                  {"stats", "--quiet", "--force-export=true", "--format", "csv", "--report",
                   ranges ? "nvtx_sum" : "cuda_gpu_kern_sum", report},
                  {}, {{}, {"LC_ALL=C"}})
          .out;
  for (TimelineItem& item : read_nsys_summary(table, report)) {
    rows.push_back({problem, ranges, std::move(item), report});
  }
}

}  // namespace

ProfileReport run_profile(const ProfileOptions& options, const ProfilePlan& plan,
                          const Target& target, const std::optional<Ncu>& ncu,
                          const fs::path& reports) {
  const InterruptWatch watch;
  const CountPlan counting = count_plan(options);
  ProfileReport report;
  report.fields = choose_counter_fields(options.metrics);
  report.rows =
      ProblemWalk(options, plan, target)
          .walk(counting.fields, [&](const MeasuringSetup& setup, const auto& cases,
                                     const std::string& stem, const auto& before) {
            return ncu ? count_with_ncu(*ncu, setup, counting, cases,
                                        {reports, stem, options.out_dir.has_value()}, before)
                       : count_with_cupti(setup, counting, cases, before);
          });
  report.coverage = coverage_of(plan, report.rows);
  return report;
}

TimelineReport run_timeline(const ProfileOptions& options, const ProfilePlan& plan,
                            const Target& target, const fs::path& reports) {
  const std::string nsys = installed_nsys();
  const InterruptWatch watch;
  TimelineReport timeline;
  const auto count = [&](MeasuringSetup setup, const auto& cases, const std::string& stem,
                         const auto& before) {
    const std::string report = (reports / (stem + ".nsys-rep")).string();
    setup.launcher = {nsys,       "profile", "--trace=cuda,nvtx", "--force-overwrite=true",
                      "--output", report};
    std::vector<CountedCase> counted =
        run_under_tool(setup, {options.runs, {}, false}, cases, before).cases;
    add_summary(nsys, report, setup.problems.front(), false, timeline.rows);
    add_summary(nsys, report, setup.problems.front(), true, timeline.rows);
    return counted;
  };
  timeline.coverage = coverage_of(plan, ProblemWalk(options, plan, target).walk({}, count));
  return timeline;
}

void compare_durations(const std::optional<std::string>& baseline, ProfileReport& report) {
  for (ProfiledConfig& row : report.rows) {
    std::optional<double> least_us;
    std::optional<double> baseline_us;
    for (const ProfiledConfig& other : report.rows) {
      if (other.problem == row.problem && other.duration_us) {
        least_us = std::min(least_us.value_or(*other.duration_us), *other.duration_us);
        baseline_us = baseline && other.config == *baseline ? other.duration_us : baseline_us;
      }
    }
    if (row.duration_us.value_or(0.0) > 0.0) {
      row.relative_percent = 100.0 * baseline_us.value_or(*least_us) / *row.duration_us;
    }
  }
}

}  // namespace fatune

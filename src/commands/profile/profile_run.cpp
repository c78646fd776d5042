#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/find_tool.hpp"
#include "base/ranges.hpp"
#include "base/run_program.hpp"
#include "commands/profile/profile.hpp"
#include "engine/candidate_maker.hpp"
#include "engine/compiling.hpp"
#include "engine/interrupt.hpp"
#include "engine/session.hpp"
#include "engine/verifying_kernels.hpp"
#include "inspect/counters/counter_fields.hpp"
#include "measure/measurement_module.hpp"
#include "model/outcome.hpp"
#include "model/problem.hpp"
#include "plan/config_text.hpp"
#include "plan/planner.hpp"
#include "print/console.hpp"

namespace fatune {
namespace {

/// Whether a profiler's name of a kernel is that of this configuration's kernel.
bool is_kernel_of(const Family& family, const Config& config, const std::string& name) {
  const std::vector<std::string> functions = function_names(family);
  const std::string function = name.substr(0, name.find('('));
  if (is_among(function, functions)) {
    return true;
  }
  try {
    return parse_kernel_name(family, name) == config;
  } catch (const Error&) {
    return false;
  }
}

void set_failure(const Outcome& outcome, ProfiledConfig& row) {
  row.outcome = outcome_kind(outcome);
  row.detail = outcome_summary(outcome);
}

/// Returns the configuration that a kernel's name contains, in short form, else the name.
std::string config_of(const Family& family, const std::string& kernel_name) {
  if (!looks_like_kernel_name(family, kernel_name)) {
    return kernel_name;
  }
  try {
    return short_form(family, parse_kernel_name(family, kernel_name));
  } catch (const Error&) {
    return kernel_name;
  }
}

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

/// Sets the row's counters to the averages over these runs.
void set_counters(const std::vector<RawCounters>& runs, const std::vector<CounterField>& fields,
                  ProfiledConfig& row) {
  row.outcome = OutcomeKind::profiled;
  row.runs = static_cast<std::int64_t>(runs.size());
  row.counters = derive_averages(fields, runs);
  const auto duration = choose_counter_fields(std::vector<std::string>{"duration_us"});
  if (const auto average = derive_averages(duration, runs); !average.empty()) {
    row.duration_us = average.front().second;
  }
}

/// One problem's configurations, from the plan to the report. All references must outlive it.
class ProblemProfile {
 public:
  ProblemProfile(const CompileSettings& settings, const FamilySet& families,
                 const DeviceLimits& limits, const ProfileProblem& problem)
      : settings_(settings), families_(families), limits_(limits), problem_(problem) {}

  /// Compiles what the device can run, and sets the outcome of other rows. `cache` may be null.
  void compile(CubinCache* cache) {
    std::vector<std::size_t> rows;
    std::vector<CompileRequest> requests;
    for (const ProfileCase& one : problem_.cases) {
      const Family& family = families_.of(one.config);
      rows_.push_back(row_of(one));
      if (auto obstacle = find_obstacle(family, one.config, problem_.problem, limits_)) {
        set_failure(*obstacle, rows_.back());
        continue;
      }
      rows.push_back(rows_.size() - 1);
      requests.push_back(
          compile_request(family, one.config, problem_.problem, limits_.arch, limits_));
    }
    const auto results = compile_all(requests, settings_, cache);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (add_case(rows[i], results[i])) {
        indices_.push_back(rows[i]);
      }
    }
  }

  /// The configurations that can be counted.
  [[nodiscard]] const std::vector<CountCase>& cases() const { return cases_; }

  /// Returns the rows without those of uncounted cases. `counted`: results of the first cases.
  [[nodiscard]] std::vector<ProfiledConfig> finish(const std::vector<CountedCase>& counted,
                                                   const std::vector<CounterField>& fields) {
    for (std::size_t i = 0; i < counted.size(); ++i) {
      ProfiledConfig& row = rows_[indices_[i]];
      if (counted[i].failure) {
        set_failure(*counted[i].failure, row);
      } else {
        set_counters(counted[i].runs, fields, row);
      }
    }
    std::erase_if(rows_,
                  [](const ProfiledConfig& row) { return row.outcome == OutcomeKind::stopped; });
    return std::move(rows_);
  }

 private:
  [[nodiscard]] ProfiledConfig row_of(const ProfileCase& one) const {
    const Family& family = families_.of(one.config);
    ProfiledConfig row;
    row.problem = problem_.problem;
    row.config = short_form(family, one.config);
    row.kernel_name = kernel_name(family, one.config);
    row.total_flop = find_quantity(family, one.config, problem_.problem, limits_, "total_flop");
    row.sweep_us = one.sweep_us;
    return row;
  }

  /// Returns false if it cannot be compiled or launched, or if an interrupt prevented its
  /// compilation.
  bool add_case(std::size_t row, const std::shared_ptr<const CompileResult>& compiled) {
    if (!compiled) {
      return false;
    }
    if (const auto failed = failure_of(*compiled)) {
      set_failure(*failed, rows_[row]);
      return false;
    }
    const Config& config = problem_.cases[row].config;
    const Family& family = families_.of(config);
    const Problem& problem = problem_.problem;
    const ResourceFacts& facts = std::get<Artifact>(*compiled).facts;
    CountCase one;
    one.kernel = {rows_[row].config,
                  std::shared_ptr<const Artifact>(compiled, &std::get<Artifact>(*compiled)),
                  launch_geometry(family, config, problem, limits_, &facts),
                  launch_geometry(family, config, probe_problem(problem), limits_, &facts),
                  family.name};
    Result result = make_result(family, config);
    if (auto obstacle = add_artifact(*one.kernel.artifact, one.kernel.geometry, limits_, result)) {
      set_failure(*obstacle, rows_[row]);
      return false;
    }
    one.is_kernel = [&family, &config](const std::string& name) {
      return is_kernel_of(family, config, name);
    };
    cases_.push_back(std::move(one));
    return true;
  }

  const CompileSettings& settings_;
  const FamilySet& families_;
  const DeviceLimits& limits_;
  const ProfileProblem& problem_;
  std::vector<ProfiledConfig> rows_;
  std::vector<std::size_t> indices_;  // each case's index in rows_
  std::vector<CountCase> cases_;
};

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
    setup_.sources = read_kernel_sources(plan.kernels.tree, measurement_source_names());
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

ProfileReport import_profile(const std::filesystem::path& file, const Family& family,
                             const std::vector<CounterField>& fields) {
  ProfileReport report;
  report.fields = fields;
  std::vector<std::string> order;
  std::map<std::string, std::vector<RawCounters>> launches;
  for (ProfiledLaunch& launch : read_profile(file)) {
    const auto [found, is_new] = launches.try_emplace(launch.kernel_name);
    if (is_new) {
      order.push_back(launch.kernel_name);
    }
    found->second.push_back(std::move(launch.counters));
  }
  for (const std::string& name : order) {
    ProfiledConfig row;
    row.config = config_of(family, name);
    row.kernel_name = name;
    set_counters(launches[name], fields, row);
    if (row.duration_us) {
      check_kernel_time(*row.duration_us, fmt::format("{}: {}: duration_us", file.string(), name));
    }
    report.rows.push_back(std::move(row));
  }
  return report;
}

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

#include "commands/profile/profile.hpp"

#include <fmt/format.h>

#include "base/cuda_installation.hpp"
#include "base/error.hpp"
#include "base/file_tree.hpp"
#include "base/ranges.hpp"
#include "base/run_program.hpp"
#include "engine/candidate_maker.hpp"
#include "engine/compiling.hpp"
#include "engine/interrupt.hpp"
#include "engine/session.hpp"
#include "engine/verifying_kernels.hpp"
#include "gpu/machine.hpp"
#include "inspect/counters/ncu.hpp"
#include "measure/measurement_module.hpp"
#include "plan/config_text.hpp"
#include "plan/planner.hpp"
#include "print/console.hpp"
#include "print/files.hpp"

namespace fatune {
namespace {

namespace fs = std::filesystem;

/// A configuration that is ready to be counted.
struct CountCase {
  CandidateKernel kernel;
  std::function<bool(const std::string&)> is_kernel;  ///< whether a profiler's name is its kernel's
};

struct CountedCase {
  std::vector<RawCounters> runs;
  std::optional<Outcome> failure;
};

struct CountPlan {
  int runs = 1;
  std::vector<CounterField> fields;
  bool all_sections = false;  ///< all sections of a profiler's report, whatever the fields
};

/// Called before each configuration. If it returns false, counting ends without the others.
using BeforeCase = std::function<bool(const CandidateKernel&)>;

struct Attempt {
  std::vector<CountedCase> cases;  ///< they have no values: the tool has them
  bool whole = false;              ///< no worker died, so nothing is lost
};

/// Runs the cases with a tool in front of the worker (setup.launcher), each run in a profiler range
/// of its own. On return, the tool has ended and written its report. Throws as CountingSession.
Attempt run_under_tool(const MeasuringSetup& setup, const CountPlan& plan,
                       const std::vector<CountCase>& cases, const BeforeCase& before) {
  CountingSession session(setup);
  Attempt attempt;
  for (const CountCase& one : cases) {
    if (!before(one.kernel)) {
      break;
    }
    attempt.cases.push_back({{}, session.count(one.kernel, {plan.runs, {}}).failure});
  }
  attempt.whole = session.whole();
  return attempt;
}

/// Counts through CUPTI in the worker. Returns one result for each case, or fewer if `before` ended
/// it. Throws as CountingSession.
std::vector<CountedCase> count_with_cupti(const MeasuringSetup& setup, const CountPlan& plan,
                                          const std::vector<CountCase>& cases,
                                          const BeforeCase& before) {
  const CountRequest request{plan.runs, hardware_metrics(plan.fields, setup.arch.sm)};
  CountingSession session(setup);
  std::vector<CountedCase> results;
  for (const CountCase& one : cases) {
    if (!before(one.kernel)) {
      break;
    }
    Counted counted = session.count(one.kernel, request);
    for (RawCounters& run : counted.runs) {
      run[kRegistersMetric] = one.kernel.artifact->facts.registers_per_thread;
    }
    results.push_back({std::move(counted.runs), std::move(counted.failure)});
  }
  return results;
}

/// Runs ncu in the C locale, because its tables depend on the locale.
std::string run_ncu(const std::string& program, const std::vector<std::string>& arguments) {
  return run_program(program, arguments, {}, {{}, {"LC_ALL=C"}}).out;
}

std::string messages_in(const fs::path& log) {
  std::error_code ignored;
  return fs::exists(log, ignored) ? read_disk_file(log) : std::string{};
}

/// The files of one run of the profiler.
struct Session {
  fs::path report;
  fs::path log;

  explicit Session(const fs::path& folder, const std::string& stem)
      : report(folder / (stem + ".ncu-rep")), log(folder / (stem + ".log")) {
    std::error_code ignored;
    fs::remove(report, ignored);
    fs::remove(log, ignored);
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session() {
    std::error_code ignored;
    fs::remove(log, ignored);
  }
};

NcuProfile profile_of(const Session& session, const CountPlan& plan, Arch arch) {
  return {.report = session.report.string(),
          .log = session.log.string(),
          .metrics = raw_metrics(plan.fields, arch.sm),
          .sections = {"MemoryWorkloadAnalysis"},
          .set = plan.all_sections ? "full" : "basic"};
}

std::size_t launches_expected(const Attempt& attempt, int runs) {
  return sum_of<std::size_t>(attempt.cases, [runs](const CountedCase& one) {
    return one.failure ? 0U : static_cast<std::size_t>(runs);
  });
}

[[noreturn]] void fail_other_launches(const std::string& what, const fs::path& report) {
  throw Error(ExitCode::gpu_failure, "the profile is not that of the requested launches: " + what,
              report.string(), "profile with fewer configurations, or report it as a bug");
}

/// Assigns the report's launches to the cases. They are in the order in which they were counted.
void deal_out(const std::vector<ProfiledLaunch>& launches, const std::vector<CountCase>& cases,
              int runs, const fs::path& report, Attempt& attempt) {
  const std::size_t expected = launches_expected(attempt, runs);
  if (launches.size() != expected) {
    fail_other_launches(fmt::format("{} launches instead of {}", launches.size(), expected),
                        report);
  }
  auto next = launches.begin();
  for (std::size_t i = 0; i < attempt.cases.size(); ++i) {
    for (int run = 0; !attempt.cases[i].failure && run < runs; ++run, ++next) {
      if (!cases[i].is_kernel(next->kernel_name)) {
        fail_other_launches(
            fmt::format("launch {} is of '{}' instead of '{}'", next - launches.begin(),
                        next->kernel_name, cases[i].kernel.label),
            report);
      }
      attempt.cases[i].runs.push_back(next->counters);
    }
  }
}

/// Profiles some cases in one run of the profiler.
Attempt profile_cases(const Ncu& ncu, MeasuringSetup& setup, const CountPlan& plan,
                      const std::vector<CountCase>& cases, const fs::path& folder,
                      const std::string& stem, const BeforeCase& before) {
  const Session session(folder, stem);
  setup.launcher = ncu_profile_arguments(profile_of(session, plan, setup.arch));
  setup.launcher.insert(setup.launcher.begin(), ncu.program);
  Attempt attempt;
  try {
    attempt = run_under_tool(setup, plan, cases, before);
  } catch (const Error&) {
    if (const std::string messages = messages_in(session.log); has_ncu_errors(messages)) {
      throw ncu_failure(messages, ncu.program);
    }
    throw;
  }
  if (launches_expected(attempt, plan.runs) == 0 || (!attempt.whole && cases.size() > 1)) {
    return attempt;
  }
  if (!fs::exists(session.report)) {
    throw ncu_failure(messages_in(session.log), ncu.program);
  }
  const std::string table = run_ncu(ncu.program, ncu_table_arguments(session.report.string()));
  deal_out(read_ncu_csv(table, session.report.string(), true), cases, plan.runs, session.report,
           attempt);
  return attempt;
}

void write_text(const Ncu& ncu, const fs::path& report) {
  if (fs::exists(report)) {
    write_output_file(fs::path(report).replace_extension(".txt"),
                      run_ncu(ncu.program, ncu_text_arguments(report.string())));
  }
}

/// The files of a problem's report.
struct NcuFiles {
  std::filesystem::path folder;
  std::string stem;        ///< "b16_s4096_h16_d128_FP16"
  bool with_text = false;  ///< a report for people (.txt) beside the raw one (.ncu-rep)
};

/// Counts with Nsight Compute in front of the worker. It profiles only the counted launches, and
/// leaves its report in `files`. If a configuration kills the worker, which loses what was counted,
/// all are counted again, each in its own run: reports <stem>_1, <stem>_2, ... Returns one result
/// for each case, or fewer if `before` ended it. Throws Error with the reason that the profiler
/// gives (ncu_messages.hpp).
std::vector<CountedCase> count_with_ncu(const Ncu& ncu, MeasuringSetup setup, const CountPlan& plan,
                                        const std::vector<CountCase>& cases, const NcuFiles& files,
                                        const BeforeCase& before) {
  Attempt all = profile_cases(ncu, setup, plan, cases, files.folder, files.stem, before);
  std::vector<std::string> stems{files.stem};
  if (!all.whole && cases.size() > 1) {
    stems.clear();
    all.cases.clear();
    for (const CountCase& one : cases) {
      stems.push_back(fmt::format("{}_{}", files.stem, stems.size() + 1));
      Attempt alone = profile_cases(ncu, setup, plan, {one}, files.folder, stems.back(), before);
      if (alone.cases.empty()) {
        break;
      }
      all.cases.push_back(std::move(alone.cases.front()));
    }
  }
  for (const std::string& stem : files.with_text ? stems : std::vector<std::string>{}) {
    write_text(ncu, files.folder / (stem + ".ncu-rep"));
  }
  return std::move(all.cases);
}

/// Reads a report, made on any machine: a .ncu-rep, which ncu prints, or what ncu printed of one.
std::vector<ProfiledLaunch> read_profile(const fs::path& file) {
  constexpr std::size_t kMostBytes = std::size_t{256} << 20;
  if (file.extension() != ".ncu-rep") {
    return read_ncu_csv(read_disk_file(file, kMostBytes), file.string());
  }
  const std::string program =
      needed_tool(find_tool("ncu"), "ncu, which reads such a report,", file.string(),
                  "on a machine with it: ncu --import FILE --csv --page raw > FILE.csv");
  return read_ncu_csv(run_ncu(program, ncu_table_arguments(file.string())), file.string(), true);
}

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

/// The metrics to count: the requested figures, and the duration, from which others are computed.
CountPlan count_plan(const ProfileOptions& options) {
  std::vector<std::string> names = options.metrics;
  names.emplace_back("duration_us");
  return {options.runs, choose_counter_fields(names), options.all_sections};
}

std::size_t count_cases(const ProfilePlan& plan) {
  return sum_of<std::size_t>(plan.problems,
                             [](const ProfileProblem& problem) { return problem.cases.size(); });
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
      if (auto obstacle = find_obstacle({family, one.config, problem_.problem, limits_})) {
        set_failure(*obstacle, rows_.back());
        continue;
      }
      rows.push_back(rows_.size() - 1);
      requests.push_back(compile_request({family, one.config, problem_.problem, limits_}));
    }
    const auto results = compile_all(requests, settings_, cache);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (add_case(rows[i], results[i])) {
        indices_.push_back(rows[i]);
      }
    }
  }

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
    row.total_flop = find_quantity({family, one.config, problem_.problem, limits_}, "total_flop");
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
                  launch_geometry({family, config, problem, limits_}, &facts),
                  launch_geometry({family, config, probe_problem(problem), limits_}, &facts),
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

/// Compiles and announces the plan's problems one by one, and lets `count` do the rest: (setup,
/// cases, stem, before) -> results of the cases.
template <typename Count>
std::vector<ProfiledConfig> profile_problems(const ProfileOptions& options, const ProfilePlan& plan,
                                             const Target& target,
                                             const std::vector<CounterField>& fields,
                                             const Count& count) {
  const auto cache = open_cache(options.compile);
  MeasuringSetup setup = gpu_setup(target, target.gpus.front(), options.target, options.output);
  setup.sources = read_kernel_sources(plan.kernels.tree, measurement_source_names());
  setup.cache = cache.get();
  const std::size_t total = count_cases(plan);
  std::size_t number = 0;
  std::vector<ProfiledConfig> rows;
  for (const ProfileProblem& problem : plan.problems) {
    ProblemProfile profile(options.compile, plan.kernels.families, target.limits, problem);
    profile.compile(cache.get());
    setup.problems = {problem.problem};
    const auto announce = [&](const CandidateKernel& kernel) {
      number = std::min(number + 1, total);
      print_note(options.output, fmt::format("[{}/{}] {}, {}", number, total,
                                             describe(problem.problem), kernel.label));
      return !InterruptWatch::interrupted();
    };
    std::vector<CountedCase> counted;
    if (!profile.cases().empty() && !InterruptWatch::interrupted()) {
      counted = count(setup, profile.cases(), file_name_part(problem.problem), announce);
    }
    std::ranges::move(profile.finish(counted, fields), std::back_inserter(rows));
  }
  return rows;
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

Ncu find_profiler() {
  const std::string program =
      needed_tool(find_tool("ncu"), "ncu, NVIDIA's Nsight Compute,", {},
                  "it comes with the CUDA toolkit, or as a package of its own (nsight-compute); or "
                  "give its path in FATUNE_NCU; '--backend cupti' works without it, and '--script "
                  "DIR' writes scripts for another machine");
  if (counter_access() == CounterAccess::admins_only) {
    throw Error(ExitCode::gpu_failure,
                "there is no permission to read the GPU's performance counters",
                "/proc/driver/nvidia/params", counter_permission_remedy());
  }
  return {program, ncu_version(run_ncu(program, {"--version"}))};
}

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
  const auto count = [&](const MeasuringSetup& setup, const auto& cases, const std::string& stem,
                         const auto& before) {
    return ncu ? count_with_ncu(*ncu, setup, counting, cases,
                                {reports, stem, options.out_dir.has_value()}, before)
               : count_with_cupti(setup, counting, cases, before);
  };
  report.rows = profile_problems(options, plan, target, counting.fields, count);
  report.coverage = coverage_of(plan, report.rows);
  return report;
}

TimelineReport run_timeline(const ProfileOptions& options, const ProfilePlan& plan,
                            const Target& target, const fs::path& reports) {
  const std::string nsys =
      needed_tool(find_tool("nsys"), "nsys, NVIDIA's Nsight Systems,", {},
                  "install the package nsight-systems, or give its path in FATUNE_NSYS");
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
  timeline.coverage = coverage_of(plan, profile_problems(options, plan, target, {}, count));
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

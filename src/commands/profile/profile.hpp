#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "commands/profile/profile_report.hpp"
#include "engine/choice/kernel_choice.hpp"
#include "engine/measuring_evaluator.hpp"
#include "inspect/counters/counter_fields.hpp"
#include "inspect/counters/profiler_tables.hpp"
#include "model/config.hpp"
#include "model/device_limits.hpp"
#include "model/options.hpp"
#include "model/problem.hpp"
#include "plan/family.hpp"

namespace fatune {

/// The reader of the counters.
enum class CounterReader {
  ncu,    ///< Nsight Compute, in front of the worker
  cupti,  ///< the worker itself
};

struct ProfileOptions {
  KernelOptions kernels;
  ProblemOptions problems;
  TargetOptions target;
  CompileSettings compile;
  OutputOptions output;
  std::vector<std::string> configs;  ///< instead of a space or a run
  std::optional<std::filesystem::path> db_file;
  bool with_run = false;                         ///< the first of a stored run's rankings
  std::optional<std::int64_t> run;               ///< absent: the run that began last
  int top = 5;                                   ///< how many of each ranking; 0: all
  std::vector<std::string> metrics{"standard"};  ///< sets, figures, raw metrics
  bool all_sections = false;                     ///< ncu's report has all its sections
  int runs = 3;                                  ///< launches that are counted and averaged
  std::optional<std::string> baseline;           ///< configuration that relative_percent refers to
  CounterReader reader = CounterReader::ncu;
  std::optional<std::filesystem::path> out_dir;
  bool timeline = false;                            ///< Nsight Systems, no counters
  std::optional<std::filesystem::path> script_dir;  ///< write scripts, run nothing
  std::optional<std::filesystem::path> imported;    ///< read this report, run nothing
};

/// A configuration to be profiled.
struct ProfileCase {
  Config config;
  std::optional<double> sweep_us;  ///< the median that a stored run measured
};

struct ProfileProblem {
  Problem problem;
  std::vector<ProfileCase> cases;
};

/// The configurations that a command profiles.
struct ProfilePlan {
  KernelSet kernels;
  std::vector<ProfileProblem> problems;
  std::optional<Config> baseline;
};

/// A configuration that is ready to be counted.
struct CountCase {
  CandidateKernel kernel;
  std::function<bool(const std::string&)> is_kernel;  ///< whether a profiler's name is its kernel's
};

/// The result for one case.
struct CountedCase {
  std::vector<RawCounters> runs;
  std::optional<Outcome> failure;
};

/// The metrics to count, and how often.
struct CountPlan {
  int runs = 1;
  std::vector<CounterField> fields;
  bool all_sections = false;  ///< all sections of a profiler's report, whatever the fields
};

/// Called before each configuration. If it returns false, counting ends without the others.
using BeforeCase = std::function<bool(const CandidateKernel&)>;

/// The result of running the worker under a tool.
struct Attempt {
  std::vector<CountedCase> cases;  ///< they have no values: the tool has them
  bool whole = false;              ///< no worker died, so nothing is lost
};

/// Runs the cases with a tool in front of the worker (setup.launcher), each run in a profiler range
/// of its own. On return, the tool has ended and written its report. Throws as CountingSession.
[[nodiscard]] Attempt run_under_tool(const MeasuringSetup& setup, const CountPlan& plan,
                                     const std::vector<CountCase>& cases, const BeforeCase& before);

/// Counts through CUPTI in the worker. Returns one result for each case, or fewer if `before` ended
/// it. Throws as CountingSession.
[[nodiscard]] std::vector<CountedCase> count_with_cupti(const MeasuringSetup& setup,
                                                        const CountPlan& plan,
                                                        const std::vector<CountCase>& cases,
                                                        const BeforeCase& before);

/// Nsight Compute on this machine.
struct Ncu {
  std::string program;  ///< path
  std::string version;  ///< "2025.3.1.0"; empty: not reported
};

/// Finds ncu and asks for its version, so that obstacles are reported before anything is compiled.
/// Throws Error(bad_file) if it is missing or does not run, and Error(gpu_failure) if the driver
/// lets only administrators read counters and this user is not one.
[[nodiscard]] Ncu find_profiler();

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
[[nodiscard]] std::vector<CountedCase> count_with_ncu(const Ncu& ncu, MeasuringSetup setup,
                                                      const CountPlan& plan,
                                                      const std::vector<CountCase>& cases,
                                                      const NcuFiles& files,
                                                      const BeforeCase& before);

/// Reads a report, made on any machine: a .ncu-rep, which ncu prints, or what ncu printed of one.
[[nodiscard]] std::vector<ProfiledLaunch> read_profile(const std::filesystem::path& file);

/// Reads a report of Nsight Compute, made on any machine. It has a row for each kernel, with the
/// average of its launches. Rows have no problem, because the report does not name it. Throws as
/// read_profile().
[[nodiscard]] ProfileReport import_profile(const std::filesystem::path& file, const Family& family,
                                           const std::vector<CounterField>& fields);

/// Compiles, verifies and counts the planned configurations, problem by problem, on the target's
/// first GPU. `ncu` reads the counters; absent: CUPTI does. The raw reports are in `reports`.
/// Throws as CountingSession and count_with_ncu().
[[nodiscard]] ProfileReport run_profile(const ProfileOptions& options, const ProfilePlan& plan,
                                        const Target& target, const std::optional<Ncu>& ncu,
                                        const std::filesystem::path& reports);

/// Records a timeline of the planned configurations with Nsight Systems, with a report for each
/// problem in `reports`. Returns what is in the reports. Throws Error(bad_file) if nsys is missing
/// or fails.
[[nodiscard]] TimelineReport run_timeline(const ProfileOptions& options, const ProfilePlan& plan,
                                          const Target& target,
                                          const std::filesystem::path& reports);

/// Sets relative_percent of every row, relative to its problem's baseline, else to the fastest.
void compare_durations(const std::optional<std::string>& baseline, ProfileReport& report);

}  // namespace fatune

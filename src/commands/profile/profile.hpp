#pragma once

#include "engine/choice/kernel_choice.hpp"
#include "engine/measuring_evaluator.hpp"
#include "inspect/counters/counter_fields.hpp"
#include "inspect/counters/profiler_tables.hpp"
#include "model/config.hpp"
#include "model/options.hpp"
#include "model/outcome.hpp"
#include "model/problem.hpp"
#include "plan/family.hpp"
#include "print/document/document.hpp"
#include "print/document/table.hpp"

namespace fatune {

/// One kernel, or one NVTX range, of a problem's timeline.
struct TimelineRow {
  Problem problem;
  bool is_range = false;
  TimelineItem item;
  std::string report;  ///< the file of the timeline
};

struct TimelineReport {
  std::vector<TimelineRow> rows;
  Coverage coverage;  ///< counts each configuration once for each problem
};

[[nodiscard]] Fields<TimelineRow> timeline_fields();

/// The rows in their order. JSON follows configs/schema/timeline.schema.json.
[[nodiscard]] Document timeline_document(const TimelineReport& report);

/// One configuration on one problem, with the averages of its counters.
struct ProfiledConfig {
  std::optional<Problem> problem;  ///< absent: a report made elsewhere does not say
  std::string config;              ///< short form
  std::string kernel_name;  ///< the name that profilers print; empty: the family has no such form
  OutcomeKind outcome = OutcomeKind::stopped;
  std::string detail;     ///< what went wrong; empty: nothing
  std::int64_t runs = 0;  ///< launches that were counted
  std::optional<double> duration_us;
  std::optional<double> relative_percent;  ///< 100 * the baseline's duration / this one's
  std::optional<double> total_flop;        ///< the family's own count
  std::optional<double> sweep_us;          ///< the median that a stored run measured
  std::vector<std::pair<std::string, double>> counters;  ///< figures by name
};

struct ProfileReport {
  std::string device;
  std::string family;
  std::string read_by;  ///< "ncu 2025.3.1.0", "cupti"
  std::string source;   ///< "run 12", "space tune"; empty: configurations were named
  Coverage coverage;    ///< counts each configuration once for each problem
  std::vector<CounterField> fields;
  std::vector<ProfiledConfig> rows;
};

/// JSON (configs/schema/profile.schema.json) and CSV have every figure. Tables and Markdown have a
/// row for each configuration. If there are too many figures for a row, it has the first of them,
/// and a second table for each problem has a row for each figure.
[[nodiscard]] Document profile_document(const ProfileReport& report);

/// The fields of a profiled configuration, without its counters.
[[nodiscard]] Fields<ProfiledConfig> profiled_config_fields();

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

struct ProfileCase {
  Config config;
  std::optional<double> sweep_us;  ///< the median that a stored run measured
};

struct ProfileProblem {
  Problem problem;
  std::vector<ProfileCase> cases;
};

struct ProfilePlan {
  KernelSet kernels;
  std::vector<ProfileProblem> problems;
  std::optional<Config> baseline;
};

struct Ncu {
  std::string program;  ///< path
  std::string version;  ///< "2025.3.1.0"; empty: not reported
};

/// Finds ncu and asks for its version, so that obstacles are reported before anything is compiled.
/// Throws Error(bad_file) if it is missing or does not run, and Error(gpu_failure) if the driver
/// lets only administrators read counters and this user is not one.
[[nodiscard]] Ncu find_profiler();

/// Reads a report of Nsight Compute, made on any machine. It has a row for each kernel, with the
/// average of its launches. Rows have no problem, because the report does not name it. Throws as
/// read_ncu_csv(), and Error(bad_file) for a .ncu-rep if ncu, which prints it, is not installed.
[[nodiscard]] ProfileReport import_profile(const std::filesystem::path& file, const Family& family,
                                           const std::vector<CounterField>& fields);

/// Compiles, verifies and counts the planned configurations, problem by problem, on the target's
/// first GPU. `ncu` reads the counters; absent: CUPTI does. The raw reports are in `reports`.
/// Throws as CountingSession, and Error with the reason that ncu gives.
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

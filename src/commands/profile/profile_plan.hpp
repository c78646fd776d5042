#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "app/choice/kernel_choice.hpp"
#include "app/option_groups.hpp"
#include "attention/problem.hpp"
#include "core/config.hpp"

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

/// Plans the configurations of the options, on their problems. For a stored run, plans the first of
/// each of its rankings instead, on the run's problems that match the options. The baseline is
/// added to every problem that it fits. Throws Error(usage) if nothing is left.
[[nodiscard]] ProfilePlan plan_profile(const ProfileOptions& options);

/// Writes scripts (bash, executable) that profile the plan on another machine, such as a cluster's
/// node: one for Nsight Compute (all its sections, raw and text reports) for each configuration and
/// problem, one for Nsight Systems for each problem, and one that runs them all. They call fatune
/// (or what FATUNE names) and say how to submit them. Returns their paths, in that order. Throws
/// Error(io) if they cannot be written.
std::vector<std::filesystem::path> write_profile_scripts(const ProfileOptions& options,
                                                         const ProfilePlan& plan,
                                                         const std::filesystem::path& folder);

}  // namespace fatune

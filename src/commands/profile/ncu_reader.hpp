#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "commands/profile/counter_reader.hpp"
#include "counters/ncu_report.hpp"

namespace fatune {

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

}  // namespace fatune

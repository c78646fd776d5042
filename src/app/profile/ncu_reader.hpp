#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "app/profile/counter_reader.hpp"
#include "counters/ncu_report.hpp"

namespace fatune {

/// Nsight Compute on this machine.
struct Ncu {
  std::string program;  ///< path
  std::string version;  ///< "2025.3.1.0"; empty: it did not say
};

/// Finds it and asks for its version; what stands in the way is said before anything is compiled.
/// Error(bad_file): it is not there, or does not run; Error(gpu_failure): the driver lets only
/// administrators read counters, and this user is none.
[[nodiscard]] Ncu find_profiler();

/// The files of a problem's report.
struct NcuFiles {
  std::filesystem::path folder;
  std::string stem;        ///< "b16_s4096_h16_d128_FP16"
  bool with_text = false;  ///< a report for people (.txt) beside the raw one (.ncu-rep)
};

/// Counts with Nsight Compute in front of the worker, which profiles the counted launches and
/// nothing else, and leaves its report in `files`. When a configuration takes the worker along, and
/// with it what was counted, all are counted again, each alone: reports <stem>_1, <stem>_2, ...
/// The results are as many as the cases, or fewer if `before` ended it. Error with the reason that
/// the profiler gives (ncu_messages.hpp).
[[nodiscard]] std::vector<CountedCase> count_with_ncu(const Ncu& ncu, MeasuringSetup setup,
                                                      const CountPlan& plan,
                                                      const std::vector<CountCase>& cases,
                                                      const NcuFiles& files,
                                                      const BeforeCase& before);

/// A report (.ncu-rep, which ncu prints) or what ncu printed of one, made anywhere.
[[nodiscard]] std::vector<ProfiledLaunch> read_profile(const std::filesystem::path& file);

}  // namespace fatune

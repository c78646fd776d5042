#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "app/option_groups.hpp"

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

}  // namespace fatune

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "inspect/counters/counter_fields.hpp"

namespace fatune {

/// One kernel launch that Nsight Compute has profiled.
struct ProfiledLaunch {
  std::string kernel_name;  ///< demangled, with arguments
  RawCounters counters;
};

/// Reads the output of `ncu --csv`: a row for each launch with a column for each metric and the
/// units in the second row ("--page raw"), or a row for each metric of a launch (the default;
/// metrics by their names, or those of fatune's by their labels: "L2 Hit Rate"). Lines before the
/// header (messages, output of the program) and "==...==" lines after it are ignored. Unknown
/// columns are ignored too, which makes tables of any version readable. Launches are in the order
/// of their numbers ("ID"). Values that are not numbers ("no data", "n/a") are left out. Numbers
/// must be written as under LC_ALL=C, which is checked unless `is_c_locale` says that they are.
/// Error(bad_file) names `source` and the row if there is no table, or a row is cut short, and
/// `source` for a number of another locale.
[[nodiscard]] std::vector<ProfiledLaunch> read_ncu_csv(std::string_view text,
                                                       const std::string& source,
                                                       bool is_c_locale = false);

/// One line of a summary of Nsight Systems: a kernel, or an NVTX range.
struct TimelineItem {
  std::string name;
  std::int64_t instances = 0;
  double total_us = 0.0;
  double mean_us = 0.0;
  double median_us = 0.0;
  double least_us = 0.0;
  double greatest_us = 0.0;
};

/// Reads the output of `nsys stats --format csv` for one report (cuda_gpu_kern_sum, nvtx_sum),
/// which has a column "Name" or "Range" and times in nanoseconds. Lines before the header
/// (messages) and unknown columns are ignored. A report without data gives nothing. Error(bad_file)
/// names `source` if the table lacks a column, a row is cut short, or a number is invalid.
[[nodiscard]] std::vector<TimelineItem> read_nsys_summary(std::string_view text,
                                                          const std::string& source);

}  // namespace fatune

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fatune {

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

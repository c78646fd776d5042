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

/// Reads what `nsys stats --format csv` prints of one report (cuda_gpu_kern_sum, nvtx_sum), which
/// has a column "Name" or "Range" and times in nanoseconds. Lines before the header (messages) are
/// left out, and columns that are not known do not matter. A report without data gives nothing.
/// Error(bad_file) naming `source`: a table that lacks a column, rows that are cut short, numbers
/// that are none.
[[nodiscard]] std::vector<TimelineItem> read_nsys_summary(std::string_view text,
                                                          const std::string& source);

}  // namespace fatune

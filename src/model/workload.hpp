#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "model/problem.hpp"

namespace fatune {

/// A problem that a program calls, how often, and how long a call takes.
struct WorkloadCall {
  Problem problem;
  double calls = 1.0;               ///< in the time that the workload stands for
  std::optional<double> time_us{};  ///< of one call, with what the program uses; absent: unknown
};

/// What a program calls: each problem once.
using Workload = std::vector<WorkloadCall>;

/// Reads a file of JSON Lines, or of comma-separated values if its name ends in .csv
/// (docs/workload.md). Calls of the same problem are added up. A line without `calls` has `time_us`
/// and `time_percent`, its share of the time. Throws Error(bad_file) that names the line, and if
/// there is none.
[[nodiscard]] Workload read_workload(const std::filesystem::path& file);

/// One workload of all calls. Times of the same problem are averaged over the calls that have one.
[[nodiscard]] Workload merged(const std::vector<Workload>& workloads);

/// Microseconds of all calls of the entry; absent: the time of one is unknown.
[[nodiscard]] std::optional<double> total_us(const WorkloadCall& call);

}  // namespace fatune

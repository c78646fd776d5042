#pragma once

#include <vector>

#include <nlohmann/json.hpp>

#include "report/report.hpp"

// Reads parts of outputs (emit/results_json.cpp) as the structs that they were written from. Most
// members have the same names as in records (src/record); the others are handled here. Members that
// are absent or null get their defaults, because files of earlier versions lack members. The
// functions take members out of a part. Error(bad_file) names the member within the part.
namespace fatune {

/// Expects the part as JsonPieces makes it: parameters and counters are lists of pairs.
[[nodiscard]] Result read_result(nlohmann::json& part);

/// Results of a problem that have been read before the rest of it.
struct ProblemResults {
  std::vector<Result> ranking{};
  std::vector<Result> failures{};
  std::vector<Result> audited{};
};
[[nodiscard]] ProblemReport read_problem_report(nlohmann::json& part, ProblemResults results);

/// The member "device" of a part.
[[nodiscard]] DeviceLimits read_device(nlohmann::json& part);
/// A run on that device, without its problems.
[[nodiscard]] RunReport read_run(nlohmann::json part, const DeviceLimits& device);

}  // namespace fatune

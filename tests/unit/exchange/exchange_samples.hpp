#pragma once

#include <functional>
#include <string>

#include "exchange/run_parts.hpp"
#include "report/report.hpp"

namespace fatune {

/// Two problems. On the first, family "toy" has two times, an outcome of each kind of failure, and
/// a configuration that was tried for an audit; "other" has the second-best time. On the second,
/// "toy" has one.
[[nodiscard]] RunReport sample_tuning();
/// Its part of "toy" on the first problem.
[[nodiscard]] RunPart sample_part();
/// All that the store keeps of a run, to compare runs.
[[nodiscard]] std::string all_of(const RunReport& run);

/// That `work` throws Error(bad_file) whose text has all of `parts`.
void expect_bad_file(const std::function<void()>& work, const std::vector<std::string>& parts);

}  // namespace fatune

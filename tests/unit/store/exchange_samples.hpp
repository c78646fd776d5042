#pragma once

#include <functional>
#include <string>

#include "model/report.hpp"
#include "store/run_parts.hpp"

namespace fatune {

/// A run with two problems. On the first, family "toy" has two times, an outcome of each kind of
/// failure, and a configuration that was tried for an audit, and "other" has the second-best time.
/// On the second, "toy" has one time.
[[nodiscard]] RunReport sample_tuning();
/// The part of sample_tuning() with "toy" on the first problem.
[[nodiscard]] RunPart sample_part();
/// A text of all that the store keeps of a run. Tests compare runs by it.
[[nodiscard]] std::string all_of(const RunReport& run);

/// Expects `work` to throw an Error(bad_file) with all of `parts` in its text.
void expect_bad_file(const std::function<void()>& work, const std::vector<std::string>& parts);

}  // namespace fatune

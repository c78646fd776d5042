#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/outcome.hpp"
#include "emit/document/table.hpp"
#include "report/report.hpp"

namespace fatune {

/// A configuration without a time or a machine code, or the first of several for one reason.
struct FailureGroup {
  OutcomeKind outcome = OutcomeKind::stopped;
  std::string reason;     ///< id of a rule, or a text
  std::string why;        ///< the reason in words
  std::string config;     ///< short form
  std::string problem{};  ///< the problem in words; empty: none
  std::size_t count = 1;
};

/// Puts failures together whose outcomes and reasons are the same, or differ in the reason's
/// numbers only. The greatest group is first, but those that rules of the space dropped come last.
[[nodiscard]] std::vector<FailureGroup> grouped(const std::vector<FailureGroup>& failures);
/// The configurations without a rank, on all problems of the run, by reason.
[[nodiscard]] std::vector<FailureGroup> failure_groups(const RunReport& run);
[[nodiscard]] Fields<FailureGroup> failure_group_fields();

}  // namespace fatune

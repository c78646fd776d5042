#pragma once

#include "emit/document/table.hpp"
#include "emit/plots/study_report.hpp"

// Tables of a report on runs. Each has no rows where there is nothing to show.
namespace fatune {

/// A row for each problem of each run: the winner, its time, and its lead.
[[nodiscard]] Table winners_table(const StudyReport& report);
/// A row for each peer: on how many problems it was measured too, and how the winners compare.
[[nodiscard]] Table peers_table(const StudyReport& report);
/// A row for each problem: how its samples were taken, and what the chip did meanwhile.
[[nodiscard]] Table measuring_table(const StudyReport& report);
/// What has no rank, but for what rules dropped. The same failure of several configurations of a
/// problem is one row.
[[nodiscard]] Table failures_table(const StudyReport& report);
/// A row for each problem: how many configurations the rules dropped.
[[nodiscard]] Table dropped_table(const StudyReport& report);
/// A row for each rule: how many configurations it dropped on all problems of the run.
[[nodiscard]] Table rules_table(const StudyReport& report);
/// A row for each rule of an audited problem.
[[nodiscard]] Table audit_table(const StudyReport& report);
/// Two columns: what is known of each run.
[[nodiscard]] Table method_table(const StudyReport& report);

}  // namespace fatune

#pragma once

#include "emit/document/table.hpp"
#include "emit/plots/study_report.hpp"
#include "study/study_rows.hpp"

// Tables of a report on runs. A table has no rows if there is nothing to show.
namespace fatune {

/// A row for each problem of each run: the winner, its time and its lead.
[[nodiscard]] Table winners_table(const StudyReport& report);
/// A row for each of several runs: what tells it from the others.
[[nodiscard]] Table runs_table(const StudyReport& report);
/// A row for each GPU and peer: on how many problems it was measured, and how the winners compare
/// with it.
[[nodiscard]] Table peers_table(const StudyReport& report);
/// A row for each problem: how its samples were taken, and the chip's condition meanwhile.
[[nodiscard]] Table measuring_table(const StudyReport& report);
/// The configurations without a rank. A row stands for all of a run that have none for one reason.
[[nodiscard]] Table failures_table(const StudyReport& report);
/// A row for each problem: how many configurations the rules dropped.
[[nodiscard]] Table dropped_table(const StudyReport& report);
/// A row for each rule: how many configurations it dropped on all problems of the run.
[[nodiscard]] Table rules_table(const StudyReport& report);
/// A row for each rule of an audited problem.
[[nodiscard]] Table audit_table(const StudyReport& report);
/// A row for each known fact of a run.
[[nodiscard]] Table method_table(const StudyReport& report);

/// A table with a row for each of `rows`, in their order: run and problem, result fields, and
/// parameters. Marks of plots refer to these rows by number.
[[nodiscard]] Table configuration_table(const StudyReport& report, const StudyRows& rows);

}  // namespace fatune

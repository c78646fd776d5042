#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "report/report.hpp"

namespace fatune {

/// A ranked configuration on one problem, as a row of the table that plots point to.
struct StudyRow {
  std::int64_t number = 0;  ///< from 0: what marks of plots call it
  const RunReport* run;
  const ProblemReport* problem;
  const Result* result;
  double slower_percent = 0.0;  ///< than the fastest of its problem in its run
};

struct StudyRows {
  std::vector<StudyRow> rows;  ///< by run, problem, rank
  std::size_t all = 0;         ///< how many there are; more than `rows`: a sample
};

/// All ranked results, or `most` of them: of each problem the same share, half of it the fastest,
/// the other half evenly spaced over the rest of its ranking. The reports must outlive it.
[[nodiscard]] StudyRows study_rows(const std::vector<RunReport>& runs, std::size_t most);

}  // namespace fatune

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "report/report.hpp"

namespace fatune {

/// A ranked configuration on one problem, as a row of the table that plots point to.
struct StudyRow {
  std::int64_t number = 0;  ///< counts from 0; marks of plots refer to it
  const RunReport* run;
  const ProblemReport* problem;
  const Result* result;
  double slower_percent = 0.0;  ///< than the fastest of its problem in its run
};

struct StudyRows {
  std::vector<StudyRow> rows;  ///< ordered by run, problem and rank
  std::size_t all = 0;         ///< number of all results; more than `rows`: a sample
};

/// All ranked results, or about `most` of them: the same share of each problem, half of it the
/// fastest, the other half evenly spaced over the rest of its ranking. The reports must outlive the
/// rows.
[[nodiscard]] StudyRows study_rows(const std::vector<RunReport>& runs, std::size_t most);

}  // namespace fatune

#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "report/report.hpp"
#include "study/others.hpp"

namespace fatune {

/// The subject of a report: runs, compared with each other, and related outputs of other commands.
struct StudyReport {
  std::vector<RunReport> runs;
  std::vector<std::string> names;  ///< names of the runs: "run 12", "before.json"
  std::vector<PeerStudy> peers;
  std::vector<CodeStudy> code;
  std::string command;           ///< "fatune report 12": makes this report again
  std::size_t most_rows = 1500;  ///< limit of configurations that are shown one by one
};

}  // namespace fatune

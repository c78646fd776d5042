#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "report/report.hpp"
#include "study/others.hpp"

namespace fatune {

/// What is reported on: runs beside each other, and what other outputs say of them.
struct StudyReport {
  std::vector<RunReport> runs;
  std::vector<std::string> names;  ///< of the runs: "run 12", "before.json"
  std::vector<PeerStudy> peers;
  std::vector<CodeStudy> code;
  std::string command;           ///< "fatune report 12": what makes this report again
  std::size_t most_rows = 1500;  ///< configurations that are shown one by one
};

}  // namespace fatune

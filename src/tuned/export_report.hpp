#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tuned/cover.hpp"
#include "tuned/leave_one_out.hpp"
#include "tuned/tuned_table.hpp"

namespace fatune {

/// A table with what is known of it.
struct ExportReport {
  TunedTable table;
  std::vector<LeftOut> left_out;                     ///< one for each row, in order
  std::map<std::string, std::string> source_hashes;  ///< SHA-256 of the sources of each family
  std::string fatune_version;
  std::optional<Cover> cover{};  ///< whose configurations alone the table has; absent: it has all
};

}  // namespace fatune

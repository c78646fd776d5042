#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/source_hashes.hpp"
#include "tuned/cover.hpp"
#include "tuned/leave_one_out.hpp"
#include "tuned/tuned_table.hpp"

namespace fatune {

/// A table, and what is known about it.
struct ExportReport {
  TunedTable table;
  std::vector<LeftOut> left_out;  ///< one for each row, in order
  SourceHashes source_hashes;
  std::string fatune_version;
  std::optional<Cover> cover{};  ///< the table has only its configurations; absent: it has all
};

}  // namespace fatune

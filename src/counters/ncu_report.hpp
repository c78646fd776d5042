#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "counters/counter_field.hpp"
#include "counters/number_text.hpp"

namespace fatune {

/// One kernel launch that Nsight Compute has profiled.
struct ProfiledLaunch {
  std::string kernel_name;  ///< demangled, with arguments
  RawCounters counters;
};

/// Reads what `ncu --csv` prints: a row for each launch with a column for each metric and the units
/// in the second row ("--page raw"), or a row for each metric of a launch (the default; metrics by
/// their names, or those of fatune's by their labels: "L2 Hit Rate"). Lines before the header
/// (messages, output of the program) are left out, and "==...==" lines after it; columns that are
/// not known do not matter, so that any version's tables can be read. In the order of their
/// numbers ("ID"). Values that are no numbers ("no data", "n/a") are left out.
/// `style`: how its numbers are written, if that is known; else it is found out from all of them.
/// Error(bad_file) naming `source` and the row: no table, rows that are cut short, numbers that
/// could mean two things (number_text.hpp).
[[nodiscard]] std::vector<ProfiledLaunch> read_ncu_csv(std::string_view text,
                                                       const std::string& source,
                                                       std::optional<NumberStyle> style = {});

}  // namespace fatune

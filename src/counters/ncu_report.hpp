#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "counters/counter_fields.hpp"

namespace fatune {

/// One kernel launch that Nsight Compute has profiled.
struct ProfiledLaunch {
  std::string kernel_name;  ///< demangled, with arguments
  RawCounters counters;
};

/// Reads the output of `ncu --csv`: a row for each launch with a column for each metric and the
/// units in the second row ("--page raw"), or a row for each metric of a launch (the default;
/// metrics by their names, or those of fatune's by their labels: "L2 Hit Rate"). Lines before the
/// header (messages, output of the program) and "==...==" lines after it are ignored. Unknown
/// columns are ignored too, which makes tables of any version readable. Launches are in the order
/// of their numbers ("ID"). Values that are not numbers ("no data", "n/a") are left out. Numbers
/// must be written as under LC_ALL=C, which is checked unless `is_c_locale` says that they are.
/// Error(bad_file) names `source` and the row if there is no table, or a row is cut short, and
/// `source` for a number of another locale.
[[nodiscard]] std::vector<ProfiledLaunch> read_ncu_csv(std::string_view text,
                                                       const std::string& source,
                                                       bool is_c_locale = false);

}  // namespace fatune

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

/// Reads the output of `ncu --csv`: a row for each launch with a column for each metric and the
/// units in the second row ("--page raw"), or a row for each metric of a launch (the default;
/// metrics by their names, or those of fatune's by their labels: "L2 Hit Rate"). Lines before the
/// header (messages, output of the program) and "==...==" lines after it are ignored. Unknown
/// columns are ignored too, which makes tables of any version readable. Launches are in the order
/// of their numbers ("ID"). Values that are not numbers ("no data", "n/a") are left out. `style`:
/// the format of the numbers, if known; else it is found from all of them. Error(bad_file) names
/// `source` and the row if there is no table, a row is cut short, or a number is ambiguous
/// (number_text.hpp).
[[nodiscard]] std::vector<ProfiledLaunch> read_ncu_csv(std::string_view text,
                                                       const std::string& source,
                                                       std::optional<NumberStyle> style = {});

}  // namespace fatune

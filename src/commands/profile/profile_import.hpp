#pragma once

#include <filesystem>
#include <vector>

#include "emit/profile_report.hpp"
#include "plan/family.hpp"

namespace fatune {

/// Reads a report of Nsight Compute, made on any machine. It has a row for each kernel, with the
/// average of its launches. Rows have no problem, because the report does not name it. Throws as
/// read_profile().
[[nodiscard]] ProfileReport import_profile(const std::filesystem::path& file, const Family& family,
                                           const std::vector<CounterField>& fields);

/// Sets the row's counters to the averages over these runs.
void set_counters(const std::vector<RawCounters>& runs, const std::vector<CounterField>& fields,
                  ProfiledConfig& row);

}  // namespace fatune

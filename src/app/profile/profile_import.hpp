#pragma once

#include <filesystem>
#include <vector>

#include "emit/profile_report.hpp"
#include "plan/family.hpp"

namespace fatune {

/// Reads a report of Nsight Compute, made on any machine: a row for each kernel, with launches of
/// one kernel averaged. The report does not have the problem, so rows have none. Error as
/// read_profile.
[[nodiscard]] ProfileReport import_profile(const std::filesystem::path& file, const Family& family,
                                           const std::vector<CounterField>& fields);

/// Fills in what was counted: the averages over these runs.
void set_counters(const std::vector<RawCounters>& runs, const std::vector<CounterField>& fields,
                  ProfiledConfig& row);

}  // namespace fatune

#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "app/option_groups.hpp"
#include "commands/profile/counting.hpp"
#include "commands/profile/profile_plan.hpp"
#include "core/device_limits.hpp"
#include "emit/profile_report.hpp"
#include "plan/family.hpp"

namespace fatune {

/// One problem's configurations, from the plan to the report. All references must outlive it.
class ProblemProfile {
 public:
  ProblemProfile(const CompileSettings& settings, const FamilySet& families,
                 const DeviceLimits& limits, const ProfileProblem& problem)
      : settings_(settings), families_(families), limits_(limits), problem_(problem) {}

  /// Compiles what the device can run, and sets the outcome of other rows. `cache` may be null.
  void compile(CubinCache* cache);

  /// The configurations that can be counted.
  [[nodiscard]] const std::vector<CountCase>& cases() const { return cases_; }

  /// Returns the rows without those of uncounted cases. `counted`: results of the first cases.
  [[nodiscard]] std::vector<ProfiledConfig> finish(const std::vector<CountedCase>& counted,
                                                   const std::vector<CounterField>& fields);

 private:
  [[nodiscard]] ProfiledConfig row_of(const ProfileCase& one) const;
  [[nodiscard]] bool add_case(std::size_t row,
                              const std::shared_ptr<const CompileResult>& compiled);

  const CompileSettings& settings_;
  const FamilySet& families_;
  const DeviceLimits& limits_;
  const ProfileProblem& problem_;
  std::vector<ProfiledConfig> rows_;
  std::vector<std::size_t> indices_;  // each case's index in rows_
  std::vector<CountCase> cases_;
};

/// Reads a report of Nsight Compute, made on any machine. It has a row for each kernel, with the
/// average of its launches. Rows have no problem, because the report does not name it. Throws as
/// read_profile().
[[nodiscard]] ProfileReport import_profile(const std::filesystem::path& file, const Family& family,
                                           const std::vector<CounterField>& fields);

/// Sets the row's counters to the averages over these runs.
void set_counters(const std::vector<RawCounters>& runs, const std::vector<CounterField>& fields,
                  ProfiledConfig& row);

}  // namespace fatune

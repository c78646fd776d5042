#pragma once

#include <string>
#include <vector>

#include "app/option_groups.hpp"
#include "commands/profile/counter_reader.hpp"
#include "commands/profile/profile_cases.hpp"
#include "core/device_limits.hpp"
#include "emit/profile_report.hpp"

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

}  // namespace fatune

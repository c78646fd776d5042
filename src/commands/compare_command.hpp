#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "app/option_groups.hpp"
#include "core/exit_code.hpp"

namespace fatune {

inline constexpr std::int64_t kCompareRows = 20;

struct CompareOptions {
  std::string old_input;  ///< a run of the store ("12", "last"), or a file
  std::string new_input;
  std::optional<std::filesystem::path> db_file;
  std::optional<double> tolerance_percent;  ///< absent: kTolerancePercent
  bool winners_only = false;
  std::int64_t rows = kCompareRows;  ///< configurations in output for people; 0: all
  std::optional<std::filesystem::path> junit_file;
  OutputOptions output;
};

/// Compares a run with an earlier one. Returns ExitCode::worse if something is slower beyond doubt
/// and tolerance, or fails. Returns ExitCode::undecided if the runs are not comparable.
[[nodiscard]] ExitCode compare(const CompareOptions& options);

}  // namespace fatune

#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "app/option_groups.hpp"
#include "core/exit_code.hpp"
#include "core/report_format.hpp"

namespace fatune {

inline constexpr std::int64_t kReportRows = 1500;

struct ReportOptions {
  std::vector<std::string> inputs;  ///< runs of the store ("12", "last") and files; none: shipped
  std::optional<std::filesystem::path> db_file;
  std::optional<std::string> gpu;  ///< whose shipped results; absent: the H200's
  ReportFormat format = ReportFormat::html;
  /// The page, a figure's file, or the folder of all figures; "-": standard output.
  std::optional<std::filesystem::path> out;
  std::optional<std::string> plot;  ///< id of the figure; absent: all of them
  std::int64_t rows = kReportRows;  ///< configurations that are shown one by one
  OutputOptions output;
};

/// Writes stored runs and results files as one HTML file, or its figures as SVG.
[[nodiscard]] ExitCode report(const ReportOptions& options);

}  // namespace fatune

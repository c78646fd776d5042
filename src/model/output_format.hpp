#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace fatune {

/// How a command prints its result (--format table|json|jsonl|csv|md).
enum class OutputFormat { table, json, json_lines, csv, markdown };

/// Selects which of a command's records are printed, and how (docs/tables.md).
struct TableView {
  std::vector<std::string> columns{};  ///< names, in the order wanted; empty: all
  std::string sort{};                  ///< name of a column; empty: in the order of the records
  bool descending = false;
  std::size_t top = 0;   ///< records that a terminal shows; 0: all
  std::string filter{};  ///< an expression that is true for the records to print; empty: all

  [[nodiscard]] bool is_set() const { return !columns.empty() || !sort.empty() || !filter.empty(); }
};

/// The formats that `report` writes.
enum class ReportFormat {
  html,  ///< one page with everything
  svg,   ///< single figures
};

/// The formats of `export --to`.
enum class ExportFormat { json, cpp, torch, t4, kernel_tuner_cache };

struct ExportFormatInfo {
  ExportFormat format;
  std::string_view name;  ///< what the command line calls it
  std::string_view doc;   ///< what it is, for the help
  bool is_library;        ///< a folder with the kernels' machine code
  bool is_imported;       ///< `import --from` takes it
};

/// All formats, the default first. This is the only list of them.
inline constexpr std::array kExportFormats{
    ExportFormatInfo{ExportFormat::json, "json", "the table for other programs' loaders", false,
                     false},
    ExportFormatInfo{ExportFormat::cpp, "cpp", "a C++ library of the kernels, in a folder", true,
                     false},
    ExportFormatInfo{ExportFormat::torch, "torch", "a PyTorch package of the kernels, in a folder",
                     true, false},
    ExportFormatInfo{ExportFormat::t4, "t4", "the common results format of auto-tuners", false,
                     true},
    ExportFormatInfo{ExportFormat::kernel_tuner_cache, "kernel-tuner-cache",
                     "the cache from which Kernel Tuner simulates tuning", false, true},
};

[[nodiscard]] std::string_view export_format_name(ExportFormat format);
[[nodiscard]] bool is_library(ExportFormat format);
/// Throws Error(usage), which lists the formats, if the text is not the name of one.
[[nodiscard]] ExportFormat parse_export_format(std::string_view text);
/// Throws Error(usage), which lists the formats that `import --from` takes, for any other text.
[[nodiscard]] ExportFormat parse_import_format(std::string_view text);
/// "json|cpp|...": all formats, and below those that `import --from` takes.
[[nodiscard]] std::string export_format_words();
[[nodiscard]] std::string import_format_words();
/// "json: ...; ...", for the help.
[[nodiscard]] std::string export_formats_text();

}  // namespace fatune

#pragma once

#include "model/device_limits.hpp"
#include "print/document/document.hpp"

// Documents of single commands that tests need too, and the fields of their rows, which a test
// compares with the JSON Schemas in configs/schema.
namespace fatune {

struct CaseResult;
struct CasesReport;
struct MergedStore;
struct RunSummary;
struct SearchTrial;
struct ShardState;

struct BundleRow;
[[nodiscard]] Fields<BundleRow> bundle_fields();

/// The columns of the cases, without the parameters to show.
[[nodiscard]] Fields<CaseResult> case_fields();
[[nodiscard]] Document cases_document(const CasesReport& report);

struct ListedDevice {
  int index = 0;
  DeviceLimits limits;
  std::string unusable_because;  ///< empty: usable
};

struct DeviceReport {
  std::string driver;  ///< one line: version, or why there is none
  std::string remedy;  ///< what to do about it; empty when nothing
  std::vector<ListedDevice> devices;
};

[[nodiscard]] Document device_document(const DeviceReport& report);

[[nodiscard]] Fields<ShardState> missing_shard_fields();
[[nodiscard]] Fields<MergedStore> merged_store_fields();

struct ExportedFile;
[[nodiscard]] Fields<ExportedFile> exported_file_fields();

[[nodiscard]] Fields<RunSummary> history_fields();
[[nodiscard]] Document history_document(const std::vector<RunSummary>& runs);

struct ImportedRun;
[[nodiscard]] Fields<ImportedRun> imported_run_fields();

[[nodiscard]] Fields<SearchTrial> search_fields();

}  // namespace fatune

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "inspect/counters/counter_fields.hpp"
#include "inspect/counters/profiler_tables.hpp"
#include "model/device_limits.hpp"
#include "model/emulation.hpp"
#include "model/problem.hpp"
#include "print/document/document.hpp"
#include "print/document/table.hpp"

// Reports that are one list of rows, each with the fields of its rows.
namespace fatune {

/// A bundle of compiled kernels that was written or read.
struct BundleRow {
  std::string file;
  std::int64_t artifacts = 0;
  std::int64_t added = 0;
  std::int64_t known = 0;
  std::int64_t damaged = 0;
};

/// JSON: configs/schema/cache.schema.json.
[[nodiscard]] Document bundle_document(const std::vector<BundleRow>& bundles);
[[nodiscard]] Fields<BundleRow> bundle_fields();

/// A shard of a fleet that is not done.
struct ShardRow {
  int shard = 1;
  std::string lacks;
  std::optional<int> exit_code;
};

/// The shards of a fleet that are not done. `shards` is the number of shards of the fleet. JSON:
/// configs/schema/cluster_missing.schema.json.
[[nodiscard]] Document missing_document(const std::vector<ShardRow>& rows, int shards);
[[nodiscard]] Fields<ShardRow> missing_shard_fields();

/// A file that was written for another auto-tuner: the results of one kernel on one problem.
struct ExportedFile {
  std::string file;
  std::string device;
  std::string problem;  ///< describe() of it
  std::string kernel;
  std::size_t settings = 0;
  std::size_t timed = 0;  ///< how many of them have a time
};

/// JSON: configs/schema/export_files.schema.json.
[[nodiscard]] Document export_files_document(const std::vector<ExportedFile>& files);
[[nodiscard]] Fields<ExportedFile> exported_file_fields();

/// A list of stored runs. JSON: configs/schema/history.schema.json.
[[nodiscard]] Document history_document(const std::vector<RunSummary>& runs);

/// The columns of the list of runs.
[[nodiscard]] Fields<RunSummary> history_fields();

/// A run that was imported.
struct ImportedRun {
  std::int64_t run = 0;  ///< its number in the store
  std::string started_at;
  std::string device;
  std::string family;
  std::size_t problems = 0;
  std::size_t ranked = 0;  ///< over all problems
  std::size_t failed = 0;
  bool complete = true;
};

/// JSON: configs/schema/import.schema.json.
[[nodiscard]] Document import_document(const std::vector<ImportedRun>& runs);
[[nodiscard]] Fields<ImportedRun> imported_run_fields();

/// A store that was merged into another one.
struct MergedStoreRow {
  std::string file;
  std::int64_t added = 0;
  std::int64_t renewed = 0;
  std::int64_t known = 0;
  std::int64_t damaged = 0;
  std::int64_t outcomes = 0;
};

/// JSON: configs/schema/merge.schema.json.
[[nodiscard]] Document merge_document(const std::vector<MergedStoreRow>& stores);
[[nodiscard]] Fields<MergedStoreRow> merged_store_fields();

[[nodiscard]] Fields<ProblemPreset> preset_fields();

[[nodiscard]] Document presets_document(const std::vector<ProblemPreset>& presets);

/// One kernel, or one NVTX range, of a problem's timeline.
struct TimelineRow {
  Problem problem;
  bool is_range = false;
  TimelineItem item;
  std::string report;  ///< the file of the timeline
};

struct TimelineReport {
  std::vector<TimelineRow> rows;
  Coverage coverage;  ///< counts each configuration once for each problem
};

[[nodiscard]] Fields<TimelineRow> timeline_fields();

/// The rows in their order. JSON follows configs/schema/timeline.schema.json.
[[nodiscard]] Document timeline_document(const TimelineReport& report);

/// The results of replayed searches. JSON: configs/schema/search.schema.json.
[[nodiscard]] Document search_document(const std::vector<SearchTrial>& trials);
[[nodiscard]] Fields<SearchTrial> search_fields();

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
/// The columns of the GPUs' limits.
[[nodiscard]] Fields<DeviceLimits> device_fields();

enum class Health {
  fine,
  limited,  ///< works, but something that depends on this is not available
  broken,   ///< fatune cannot do its job
};

struct Check {
  std::string subject;  ///< "NVRTC", "cubin cache"
  Health health = Health::fine;
  std::string finding;
  std::string remedy;  ///< empty when there is nothing to do
};

[[nodiscard]] Document doctor_document(const std::vector<Check>& checks);

/// One configuration on one problem, with the averages of its counters.
struct ProfiledConfig {
  std::optional<Problem> problem;  ///< absent: a report made elsewhere does not say
  std::string config;              ///< short form
  std::string kernel_name;  ///< the name that profilers print; empty: the family has no such form
  OutcomeKind outcome = OutcomeKind::stopped;
  std::string detail;     ///< what went wrong; empty: nothing
  std::int64_t runs = 0;  ///< launches that were counted
  std::optional<double> duration_us;
  std::optional<double> relative_percent;  ///< 100 * the baseline's duration / this one's
  std::optional<double> total_flop;        ///< the family's own count
  std::optional<double> sweep_us;          ///< the median that a stored run measured
  std::vector<std::pair<std::string, double>> counters;  ///< figures by name
};

struct ProfileReport {
  std::string device;
  std::string family;
  std::string read_by;  ///< "ncu 2025.3.1.0", "cupti"
  std::string source;   ///< "run 12", "space tune"; empty: configurations were named
  Coverage coverage;    ///< counts each configuration once for each problem
  std::vector<CounterField> fields;
  std::vector<ProfiledConfig> rows;
};

/// JSON (configs/schema/profile.schema.json) and CSV have every figure. Tables and Markdown have a
/// row for each configuration. If there are too many figures for a row, it has the first of them,
/// and a second table for each problem has a row for each figure.
[[nodiscard]] Document profile_document(const ProfileReport& report);

/// The fields of a profiled configuration, without its counters.
[[nodiscard]] Fields<ProfiledConfig> profiled_config_fields();

}  // namespace fatune

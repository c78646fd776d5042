#include "print/list_reports.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>

#include <fmt/format.h>

#include "base/ranges.hpp"
#include "model/flop.hpp"
#include "model/record_json.hpp"
#include "print/run_report.hpp"

namespace fatune {
namespace {

const auto best_tflops = [](const RunSummary& run) {
  return run.best ? std::optional(literature_flop(run.best->problem) / run.best->time_us *
                                  kFlopPerUsToTflops)
                  : std::nullopt;
};

std::optional<DetailValue> preset_detail(const ProblemPreset& preset, const ProblemDetail& detail) {
  const auto found = preset.details.find(&detail);
  return found == preset.details.end() ? std::nullopt : std::optional(found->second);
}

template <auto kMember>
const auto of_item = [](const TimelineRow& row) { return row.item.*kMember; };

constexpr double kMedianShare = 0.5;
constexpr double kMostSeeds = 0.9;

/// Field::get for the nearest-rank quantile of a member of the replays: the least of the values
/// that `share` of the seeds do not exceed. Absent values are the greatest.
template <typename Value>
auto over_seeds(std::optional<Value> SearchReplay::*member, double share) {
  return [=](const SearchTrial& trial) -> std::optional<Value> {
    constexpr double kNever = std::numeric_limits<double>::infinity();
    std::vector<double> values = mapped(trial.replays, [&](const SearchReplay& one) {
      return one.*member ? static_cast<double>(*(one.*member)) : kNever;
    });
    std::ranges::sort(values);
    const auto place = std::ceil(share * static_cast<double>(values.size()));
    const double value = values.at(static_cast<std::size_t>(std::max(place, 1.0)) - 1);
    return value == kNever ? std::nullopt : std::optional(static_cast<Value>(value));
  };
}

const auto tried_most_seeds = over_seeds(&SearchReplay::tried, kMostSeeds);
const auto ended_close = [](const SearchTrial& t) {
  const auto close = std::ranges::count_if(t.replays, [](const SearchReplay& one) {
    return one.ended_behind_percent.value_or(0.0) <= 100.0 * kCloseToBest;
  });
  return t.replays.front().ended_after ? std::optional(close) : std::nullopt;
};
const auto tried_percent = [](const SearchTrial& t) {
  const auto tried = tried_most_seeds(t);
  return tried ? std::optional(100.0 * static_cast<double>(*tried) / static_cast<double>(t.configs))
               : std::nullopt;
};

Fields<ListedDevice> listing_fields() {
  return {
      {"index", "#", &ListedDevice::index},
      {"usable", "usable", [](const ListedDevice& d) { return d.unusable_because.empty(); }},
      {"unusable_because", "why not", kWraps, or_none<&ListedDevice::unusable_because>},
  };
}

Json json_device(const ListedDevice& device) {
  Json json = json_object(listing_fields(), device);
  json.update(record_json(device.limits));
  return json;
}

std::vector<DeviceLimits> limits_of(const DeviceReport& report) {
  std::vector<DeviceLimits> limits;
  limits.reserve(report.devices.size());
  for (const ListedDevice& device : report.devices) {
    limits.push_back(device.limits);
  }
  return limits;
}

/// The listing's columns, with the limits' columns inserted after the first.
Table records_of(const DeviceReport& report) {
  Table table = table_of(listing_fields(), report.devices);
  Table limits = table_of(device_fields(), limits_of(report));
  table.columns.insert(table.columns.begin() + 1, limits.columns.begin(), limits.columns.end());
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    table.rows[i].insert(table.rows[i].begin() + 1, limits.rows[i].begin(), limits.rows[i].end());
  }
  return table;
}

Blocks blocks_of(const DeviceReport& report) {
  Blocks blocks{block::Line{"driver: " + report.driver}};
  if (!report.remedy.empty()) {
    blocks.push_back(block::Line{"  " + report.remedy});
  }
  if (report.devices.empty()) {
    blocks.push_back(block::Text{"no GPU is visible\n"});
  } else {
    append(blocks, {block::Text{"\n"}, block::Rows{records_of(report)}});
  }
  return blocks;
}

Json json_devices(const DeviceReport& report) {
  Json json = json_head("devices");
  json["driver"] = report.driver;
  json["remedy"] = report.remedy.empty() ? Json(nullptr) : Json(report.remedy);
  json["devices"] = json_list(report.devices, json_device);
  return json;
}

std::string_view health_name(Health health) {
  static constexpr std::array<std::string_view, 3> kNames{"fine", "limited", "broken"};
  return kNames.at(static_cast<std::size_t>(health));
}

TextColour health_colour(Health health) {
  static constexpr std::array<TextColour, 3> kColours{TextColour::green, TextColour::yellow,
                                                      TextColour::red};
  return kColours.at(static_cast<std::size_t>(health));
}

Fields<Check> check_fields() {
  return {
      {"subject", "what", &Check::subject},
      {"health", "state", [](const Check& c) { return health_name(c.health); }},
      {"finding", "finding", &Check::finding},
      {"remedy", "remedy", or_none<&Check::remedy>},
  };
}

/// Findings are sentences: on a terminal, one paragraph per check reads better than a table of wide
/// columns.
block::Rows rows_of(const std::vector<Check>& checks) {
  block::Rows rows{table_of(check_fields(), checks)};
  for (const Check& check : checks) {
    auto& paragraph = rows.paragraphs.emplace_back();
    paragraph = {fmt::format("{:<8}", health_name(check.health)), health_colour(check.health),
                 fmt::format(" {}: {}\n", check.subject, check.finding)};
    if (!check.remedy.empty()) {
      paragraph.text += fmt::format("         -> {}\n", check.remedy);
    }
  }
  return rows;
}

}  // namespace

Fields<BundleRow> bundle_fields() {
  using B = BundleRow;
  return {
      {"file", "file", &B::file},          {"artifacts", "artifacts", &B::artifacts},
      {"added", "added", &B::added},       {"known", "known", &B::known},
      {"damaged", "damaged", &B::damaged},
  };
}

Document bundle_document(const std::vector<BundleRow>& bundles) {
  return rows_document("cache", "bundles", bundle_fields(), bundles);
}

Fields<ShardRow> missing_shard_fields() {
  using S = ShardRow;
  return {
      {"shard", "shard", &S::shard},
      {"exit_code", "exit code", &S::exit_code},
      {"lacks", "lacks", &S::lacks},
  };
}

Document missing_document(const std::vector<ShardRow>& rows, int shards) {
  return rows_document("cluster_missing", "missing", missing_shard_fields(), rows,
                       {.members = {{"shards", shards}},
                        .if_empty = fmt::format("all {} shards are done\n", shards)});
}

Fields<ExportedFile> exported_file_fields() {
  using F = ExportedFile;
  return {
      {"file", "file", &F::file},
      {"device", "device", &F::device},
      {"problem", "problem", &F::problem},
      {"kernel", "kernel", &F::kernel},
      {"settings", "settings", &F::settings},
      {"timed", "timed", &F::timed},
  };
}

Document export_files_document(const std::vector<ExportedFile>& files) {
  return rows_document("export_files", "files", exported_file_fields(), files);
}

Fields<RunSummary> history_fields() {
  return {
      {"run", "run", &RunSummary::id},
      {"started_at", "started", &RunSummary::started_at},
      {"complete", "complete", &RunSummary::complete},
      {"shard", "shard", kProgramsOnly, or_none<&RunSummary::shard>},
      {"measured", "measured", &RunSummary::measured},
      {"device", "device", &RunSummary::device},
      {"problems", "problems", &RunSummary::problems},
      {"outcomes", "outcomes", &RunSummary::outcomes},
      {"reused", "reused", &RunSummary::reused},
      {"best_tflops", "TFLOP/s", Look{.decimals = 1}, best_tflops},
      {"best_problem", "of problem", kProgramsOnly,
       [](const RunSummary& r) {
         return r.best ? std::optional(describe(r.best->problem)) : std::nullopt;
       }},
      {"best_config", "best config", kWraps,
       [](const RunSummary& r) {
         return r.best ? std::optional(r.best->short_form) : std::nullopt;
       }},
      {"command_line", "command", kWraps, &RunSummary::command_line},
  };
}

Document history_document(const std::vector<RunSummary>& runs) {
  return rows_document("history", "runs", history_fields(), runs,
                       {.if_empty = "no run is stored\n"});
}

Fields<ImportedRun> imported_run_fields() {
  using R = ImportedRun;
  return {
      {"run", "run", &R::run},
      {"started_at", "started", &R::started_at},
      {"device", "device", &R::device},
      {"family", "family", &R::family},
      {"problems", "problems", &R::problems},
      {"ranked", "ranked", &R::ranked},
      {"failed", "failed", &R::failed},
      {"complete", "complete", &R::complete},
  };
}

Document import_document(const std::vector<ImportedRun>& runs) {
  return rows_document("import", "runs", imported_run_fields(), runs);
}

Fields<MergedStoreRow> merged_store_fields() {
  using M = MergedStoreRow;
  return {
      {"file", "file", &M::file},          {"added", "added", &M::added},
      {"renewed", "renewed", &M::renewed}, {"known", "known", &M::known},
      {"damaged", "damaged", &M::damaged}, {"outcomes", "outcomes", &M::outcomes},
  };
}

Document merge_document(const std::vector<MergedStoreRow>& stores) {
  return rows_document("merge", "stores", merged_store_fields(), stores);
}

Fields<ProblemPreset> preset_fields() {
  Fields<ProblemPreset> fields = joined_fields<ProblemPreset>(
      {{{"name", "preset", &ProblemPreset::name},
        {"heads", "heads", &ProblemPreset::heads},
        {"d_head", "d_head", &ProblemPreset::d_head},
        {"dtype", "dtype", [](const ProblemPreset& p) { return dtype_name(p.dtype); }},
        {"causal", "causal", &ProblemPreset::causal}},
       detail_fields<ProblemPreset, preset_detail>(kEverywhere),
       {{"note", "note", kWraps, or_none<&ProblemPreset::note>},
        {"source", "source", &ProblemPreset::source}}});
  // The table has many columns: short headings make room for the notes, and the window's column
  // leaves a narrow terminal last.
  for (Field<ProblemPreset>& field : fields) {
    field.heading = field.name == "kv_heads"   ? "kv"
                    : field.name == "d_head"   ? "d"
                    : field.name == "d_head_v" ? "d_v"
                                               : field.heading;
  }
  std::iter_swap(std::ranges::find(fields, "d_head_v", &Field<ProblemPreset>::name),
                 std::ranges::find(fields, "window", &Field<ProblemPreset>::name));
  return fields;
}

Document presets_document(const std::vector<ProblemPreset>& presets) {
  return rows_document("presets", "presets", preset_fields(), presets);
}

Fields<TimelineRow> timeline_fields() {
  using Item = TimelineItem;
  return {
      {"problem", "problem", kWraps, [](const TimelineRow& row) { return describe(row.problem); }},
      {"kind", "kind", [](const TimelineRow& row) { return row.is_range ? "range" : "kernel"; }},
      {"instances", "n", of_item<&Item::instances>},
      {"total_us", "total us", Look{.decimals = 1}, of_item<&Item::total_us>},
      {"mean_us", "mean", Look{.decimals = 1}, of_item<&Item::mean_us>},
      {"median_us", "median", Look{.decimals = 1}, of_item<&Item::median_us>},
      {"least_us", "least", Look{.decimals = 1}, of_item<&Item::least_us>},
      {"greatest_us", "greatest", Look{.decimals = 1}, of_item<&Item::greatest_us>},
      {"name", "name", kWraps, of_item<&Item::name>},
      {"report", "report", kProgramsOnly, &TimelineRow::report},
  };
}

Document timeline_document(const TimelineReport& report) {
  return rows_document("timeline", "rows", timeline_fields(), report.rows,
                       {.members = {{"complete", report.coverage.complete}},
                        .below = incomplete_text(report.coverage)});
}

Fields<SearchTrial> search_fields() {
  using T = SearchTrial;
  return {
      {"problem", "problem", kWraps, [](const T& t) { return describe(t.problem); }},
      {"search", "search", [](const T& t) { return enum_name(t.search); }},
      {"configs", "configs", &T::configs},
      {"seeds", "seeds", [](const T& t) { return t.replays.size(); }},
      {"tried_median", "tried", over_seeds(&SearchReplay::tried, kMedianShare)},
      {"tried_9_of_10", "9 of 10", tried_most_seeds},
      {"tried_9_of_10_percent", "% of space", Look{.decimals = 1}, tried_percent},
      {"part", "part", kProgramsOnly, &T::part},
      {"behind_9_of_10_percent", "behind % at 5 %", Look{.decimals = 2},
       over_seeds(&SearchReplay::behind_percent, kMostSeeds)},
      {"ended_after_median", "ended after", over_seeds(&SearchReplay::ended_after, kMedianShare)},
      {"ended_behind_9_of_10_percent", "behind % then", Look{.decimals = 2},
       over_seeds(&SearchReplay::ended_behind_percent, kMostSeeds)},
      {"ended_close", "within 1 %", ended_close},
  };
}

Document search_document(const std::vector<SearchTrial>& trials) {
  return rows_document("search", "trials", search_fields(), trials);
}

Fields<DeviceLimits> device_fields() {
  return {
      {"name", "name", kWraps, &DeviceLimits::name},
      {"uuid", "uuid", kProgramsOnly, &DeviceLimits::uuid},
      {"arch", "arch", [](const DeviceLimits& r) { return arch_name(r.arch); }},
      {"sm_count", "SMs", &DeviceLimits::sm_count},
      {"clock_khz", "clock kHz", kProgramsOnly, &DeviceLimits::clock_khz},
      {"memory_gbps", "GB/s", &DeviceLimits::memory_gbps},
      {"total_memory_bytes", "memory B", &DeviceLimits::total_memory_bytes},
      {"l2_bytes", "L2 B", &DeviceLimits::l2_bytes},
      {"smem_per_block_optin_bytes", "smem/block", &DeviceLimits::smem_per_block_optin_bytes},
      {"smem_per_sm_bytes", "smem/SM", kProgramsOnly, &DeviceLimits::smem_per_sm_bytes},
      {"registers_per_sm", "regs/SM", &DeviceLimits::registers_per_sm},
      {"max_threads_per_sm", "threads/SM", &DeviceLimits::max_threads_per_sm},
      {"max_threads_per_block", "threads/block", kProgramsOnly,
       &DeviceLimits::max_threads_per_block},
      {"max_blocks_per_sm", "blocks/SM", kProgramsOnly, &DeviceLimits::max_blocks_per_sm},
  };
}

Document device_document(const DeviceReport& report) {
  return {[&] { return blocks_of(report); }, [&] { return records_of(report); },
          [&] { return json_devices(report); }};
}

Document doctor_document(const std::vector<Check>& checks) {
  const auto object = [&] {
    Json json = json_head("doctor");
    json["checks"] = json_rows(check_fields(), checks);
    return json;
  };
  return {[&] { return Blocks{rows_of(checks)}; }, [&] { return table_of(check_fields(), checks); },
          object};
}

}  // namespace fatune

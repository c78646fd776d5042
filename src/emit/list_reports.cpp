#include "emit/list_reports.hpp"

#include <fmt/format.h>

#include "attention/flop.hpp"
#include "emit/coverage.hpp"
#include "emit/detail_fields.hpp"

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

/// The table has many columns: short headings make room for the notes.
void make_room(Fields<ProblemPreset>& fields) {
  for (Field<ProblemPreset>& field : fields) {
    field.heading = field.name == "kv_heads"   ? "kv"
                    : field.name == "d_head"   ? "d"
                    : field.name == "d_head_v" ? "d_v"
                                               : field.heading;
    field.look.leaves = field.name == "source" ? 1 : field.name == "softmax_scale" ? 2 : 0;
  }
}

template <auto kMember>
const auto of_item = [](const TimelineRow& row) { return row.item.*kMember; };

}  // namespace

Fields<BundleRow> bundle_fields() {
  using B = BundleRow;
  return {
      {"file", "file", &B::file},          {"artifacts", "artifacts", &B::artifacts},
      {"added", "added", &B::added},       {"known", "known", Look{.leaves = 1}, &B::known},
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
      {"exit_code", "exit code", Look{.leaves = 1}, &S::exit_code},
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
      {"device", "device", Look{.leaves = 1, .once = true}, &F::device},
      {"problem", "problem", Look{.once = true}, &F::problem},
      {"kernel", "kernel", Look{.once = true}, &F::kernel},
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
      {"complete", "complete", Look{.leaves = 5}, &RunSummary::complete},
      {"shard", "shard", kProgramsOnly, or_none<&RunSummary::shard>},
      {"measured", "measured", Look{.once = true}, &RunSummary::measured},
      {"device", "device", Look{.leaves = 4, .once = true}, &RunSummary::device},
      {"problems", "problems", Look{.leaves = 3}, &RunSummary::problems},
      {"outcomes", "outcomes", Look{.leaves = 2}, &RunSummary::outcomes},
      {"reused", "reused", Look{.leaves = 1}, &RunSummary::reused},
      {"best_tflops", "TFLOP/s", Look{.decimals = 1, .leaves = 6}, best_tflops},
      {"best_problem", "of problem", kProgramsOnly,
       [](const RunSummary& r) {
         return r.best ? std::optional(describe(r.best->problem)) : std::nullopt;
       }},
      {"best_config", "best config", Look{.leaves = 7, .least = 24, .config = true},
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
      {"started_at", "started", Look{.leaves = 3}, &R::started_at},
      {"device", "device", Look{.leaves = 1, .once = true}, &R::device},
      {"family", "family", Look{.leaves = 2, .once = true}, &R::family},
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
      {"file", "file", &M::file},
      {"added", "added", &M::added},
      {"renewed", "renewed", Look{.leaves = 3}, &M::renewed},
      {"known", "known", Look{.leaves = 2}, &M::known},
      {"damaged", "damaged", &M::damaged},
      {"outcomes", "outcomes", Look{.leaves = 1}, &M::outcomes},
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
       {{"note", "note", Look{.least = 16}, or_none<&ProblemPreset::note>},
        {"source", "source", &ProblemPreset::source}}});
  make_room(fields);
  return fields;
}

Document presets_document(const std::vector<ProblemPreset>& presets) {
  return rows_document("presets", "presets", preset_fields(), presets);
}

Fields<TimelineRow> timeline_fields() {
  using Item = TimelineItem;
  return {
      {"problem", "problem", Look{.least = 14, .once = true},
       [](const TimelineRow& row) { return describe(row.problem); }},
      {"kind", "kind", [](const TimelineRow& row) { return row.is_range ? "range" : "kernel"; }},
      {"instances", "n", of_item<&Item::instances>},
      {"total_us", "total us", Look{.decimals = 1, .leaves = 4}, of_item<&Item::total_us>},
      {"mean_us", "mean", Look{.decimals = 1, .leaves = 3}, of_item<&Item::mean_us>},
      {"median_us", "median", Look{.decimals = 1}, of_item<&Item::median_us>},
      {"least_us", "least", Look{.decimals = 1, .leaves = 2}, of_item<&Item::least_us>},
      {"greatest_us", "greatest", Look{.decimals = 1, .leaves = 1}, of_item<&Item::greatest_us>},
      {"name", "name", kWraps, of_item<&Item::name>},
      {"report", "report", kProgramsOnly, &TimelineRow::report},
  };
}

Document timeline_document(const TimelineReport& report) {
  return rows_document("timeline", "rows", timeline_fields(), report.rows,
                       {.members = {{"complete", report.coverage.complete}},
                        .below = incomplete_text(report.coverage)});
}

}  // namespace fatune

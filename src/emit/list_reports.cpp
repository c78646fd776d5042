#include "emit/list_reports.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "attention/flop.hpp"
#include "core/ranges.hpp"
#include "emit/shared_fields.hpp"

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
  }
}

template <auto kMember>
const auto of_item = [](const TimelineRow& row) { return row.item.*kMember; };

/// The nearest-rank quantile: the least of the values that `share` of the seeds do not exceed.
double quantile(std::vector<double> values, double share) {
  std::ranges::sort(values);
  const auto last = static_cast<double>(values.size());
  const auto place = static_cast<std::size_t>(std::ceil(share * last));
  return values.at(std::max<std::size_t>(place, 1) - 1);
}

constexpr double kMedianShare = 0.5;
constexpr double kMostSeeds = 0.9;

std::optional<std::size_t> tried(const SearchTrial& trial, double share) {
  constexpr double kNever = std::numeric_limits<double>::infinity();
  const double tried =
      quantile(mapped(trial.replays,
                      [](const SearchReplay& one) {
                        return one.tried ? static_cast<double>(*one.tried) : kNever;
                      }),
               share);
  return tried == kNever ? std::nullopt : std::optional(static_cast<std::size_t>(tried));
}

const auto tried_median = [](const SearchTrial& t) { return tried(t, kMedianShare); };
const auto tried_most_seeds = [](const SearchTrial& t) { return tried(t, kMostSeeds); };
const auto behind_most_seeds = [](const SearchTrial& t) {
  return quantile(mapped(t.replays, &SearchReplay::behind_percent), kMostSeeds);
};
/// A quantile over the seeds; nothing if the replays stopped before their searches ended.
template <typename Member>
std::optional<double> ended(const SearchTrial& trial, Member member, double share) {
  if (trial.replays.front().ended_after == 0) {
    return std::nullopt;
  }
  return quantile(mapped(trial.replays,
                         [&](const SearchReplay& one) { return static_cast<double>(one.*member); }),
                  share);
}

const auto ended_after_median = [](const SearchTrial& t) {
  return ended(t, &SearchReplay::ended_after, kMedianShare);
};
const auto ended_behind_most_seeds = [](const SearchTrial& t) {
  return ended(t, &SearchReplay::ended_behind_percent, kMostSeeds);
};
const auto ended_close = [](const SearchTrial& t) {
  const auto close = std::ranges::count_if(t.replays, [](const SearchReplay& one) {
    return one.ended_behind_percent <= 100.0 * kCloseToBest;
  });
  return t.replays.front().ended_after == 0 ? std::nullopt : std::optional(close);
};
const auto tried_percent = [](const SearchTrial& t) {
  const auto tried = tried_most_seeds(t);
  return tried ? std::optional(100.0 * static_cast<double>(*tried) / static_cast<double>(t.configs))
               : std::nullopt;
};

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
  make_room(fields);
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
      {"tried_median", "tried", tried_median},
      {"tried_9_of_10", "9 of 10", tried_most_seeds},
      {"tried_9_of_10_percent", "% of space", Look{.decimals = 1}, tried_percent},
      {"part", "part", kProgramsOnly, &T::part},
      {"behind_9_of_10_percent", "behind % at 5 %", Look{.decimals = 2}, behind_most_seeds},
      {"ended_after_median", "ended after", ended_after_median},
      {"ended_behind_9_of_10_percent", "behind % then", Look{.decimals = 2},
       ended_behind_most_seeds},
      {"ended_close", "within 1 %", ended_close},
  };
}

Document search_document(const std::vector<SearchTrial>& trials) {
  return rows_document("search", "trials", search_fields(), trials);
}

}  // namespace fatune

#include "emit/export_report.hpp"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "emit/device_fields.hpp"
#include "record/record_json.hpp"
#include "tuned/tuned_choice.hpp"

namespace fatune {
namespace {

/// The most alternatives that are exported with a row. A reader takes one if the winner is not
/// eligible.
constexpr std::size_t kAlternatives = 4;

const TunedTime& winner_of(const ExportRow& row) { return row.tuned.times.front(); }

std::string hash_of(const ExportReport& report, const Config& config) {
  return report.source_hashes.at(config.family);
}

const auto left_out_regret = [](const ExportRow& row) { return row.left_out.regret_percent; };

Json json_buckets(const TunedProblem& tuned) {
  const Buckets buckets = buckets_of(coordinates_of(tuned.problem, tuned.gpu.sm_count));
  Json json = Json::object();
  for (std::size_t i = 0; i < buckets.size(); ++i) {
    json[std::string(kBucketNames.at(i))] = buckets.at(i);
  }
  return json;
}

Json json_alternatives(const std::vector<TunedTime>& times) {
  const auto end =
      times.begin() + static_cast<std::ptrdiff_t>(std::min(times.size(), kAlternatives + 1));
  return json_rows(tuned_time_fields(), std::vector(times.begin() + 1, end));
}

Json json_export_row(const ExportRow& row) {
  Json json = json_object(export_row_fields(), row);
  json["problem"] = record_json(row.tuned.problem);
  json["buckets"] = json_buckets(row.tuned);
  json["alternatives"] = json_alternatives(row.tuned.times);
  return json;
}

std::vector<ExportRow> rows_of(const ExportReport& report) {
  std::vector<ExportRow> rows;
  for (const LeftOut& left_out : report.left_out) {
    rows.push_back({report, report.table.problems[left_out.row], left_out});
  }
  return rows;
}

std::vector<ExportDefault> defaults_of(const ExportReport& report) {
  std::vector<ExportDefault> defaults;
  for (const DefaultConfig& chosen : report.table.defaults) {
    defaults.push_back({report, chosen});
  }
  return defaults;
}

/// A row for each step that made a choice, and one for all together.
std::vector<StepRegrets> regrets_of(const ExportReport& report) {
  std::vector<StepRegrets> rows;
  for (const ChoiceStep step : {ChoiceStep::same_bucket, ChoiceStep::neighbour_bucket,
                                ChoiceStep::same_arch, ChoiceStep::fallback, ChoiceStep::refused}) {
    const RegretSummary regrets = summarize_regrets(report.left_out, step);
    if (regrets.problems > 0) {
      rows.push_back({std::string(choice_step_name(step)), regrets});
    }
  }
  rows.push_back({"all", summarize_regrets(report.left_out)});
  return rows;
}

Json json_families(const ExportReport& report) {
  Json families = Json::array();
  for (const auto& [family, hash] : report.source_hashes) {
    families.push_back({{"family", family}, {"source_hash", hash}});
  }
  return families;
}

Json json_gpus(const TunedTable& table) {
  return json_list(table.gpus, [](const auto& gpu) { return record_json(gpu.second); });
}

Json json_cover(const Cover& cover) {
  return {{"percent", cover.percent},
          {"exact", cover.exact},
          {"winners", cover.winners},
          {"configs", json_rows(covering_config_fields(), cover.configs)}};
}

Json export_object(const ExportReport& report) {
  Json json = json_head("export");
  json["fatune"] = report.fatune_version;
  json["origins"] = json_rows(tuned_origin_fields(), report.table.origins);
  json["families"] = json_families(report);
  json["gpus"] = json_gpus(report.table);
  json["rows"] = json_list(rows_of(report), json_export_row);
  json["defaults"] = json_rows(export_default_fields(), defaults_of(report));
  json["skipped"] = json_rows(skipped_result_fields(), report.table.skipped);
  json["cover"] = report.cover ? json_cover(*report.cover) : Json(nullptr);
  json["left_out"] = json_rows(step_regret_fields(), regrets_of(report));
  return json;
}

Blocks cover_blocks(const Cover& cover) {
  return {block::Text{"\n"}, block::Heading{cover_text(cover)},
          block::Rows{table_of(covering_config_fields(), cover.configs)}};
}

std::string gpu_text(const GpuModel& gpu) {
  return fmt::format("{} ({}, {} SMs)", gpu.name, arch_name(gpu.arch), gpu.sm_count);
}

Blocks skipped_blocks(const TunedTable& table) {
  if (table.skipped.empty()) {
    return {};
  }
  return {block::Text{"\n"}, block::Heading{"skipped"},
          block::Rows{table_of(skipped_result_fields(), table.skipped)}};
}

Blocks blocks_of(const ExportReport& report) {
  Blocks blocks;
  for (const auto& [gpu, limits] : report.table.gpus) {
    blocks.push_back(block::Line{gpu_text(gpu)});
  }
  append(blocks, {block::Text{"\n"}, block::Rows{table_of(export_row_fields(), rows_of(report))}});
  if (report.cover) {
    append(blocks, cover_blocks(*report.cover));
  }
  append(blocks, {block::Text{"\n"}, block::Heading{"each problem left out in turn"},
                  block::Rows{table_of(step_regret_fields(), regrets_of(report))}});
  append(blocks, skipped_blocks(report.table));
  return blocks;
}

}  // namespace

const std::vector<Field<TunedOrigin>>& tuned_origin_fields() {
  using O = TunedOrigin;
  static const std::vector<Field<O>> fields{
      {"name", "name", "name of the file or stored run that was measured", 0, kEverywhere,
       member<&O::name>},
      {"started_at", "started", "start of the measurement: ISO 8601, UTC", 0, kEverywhere,
       member<&O::started_at>},
      {"fatune", "fatune", "version of fatune that measured", 0, kEverywhere,
       member<&O::fatune_version>},
      {"nvrtc", "NVRTC", "version of NVRTC that compiled the kernels; null: not known", 0,
       kEverywhere, [](const O& o) { return text_or_none(o.nvrtc_version); }},
      {"driver", "driver",
       "release of the driver, or its CUDA version if the release is not known; null: neither is "
       "known",
       0, kEverywhere, [](const O& o) { return text_or_none(o.driver); }},
      {"complete", "complete", "false: the run was stopped, and its winners may not be the fastest",
       0, kEverywhere, member<&O::complete>},
  };
  return fields;
}

const std::vector<Field<TunedTime>>& tuned_time_fields() {
  using T = TunedTime;
  static const std::vector<Field<T>> fields{
      {"config", "config", "the configuration's short form", 0, kEverywhere,
       member<&T::short_form>},
      {"family", "family", "kernel family of the configuration", 0, kEverywhere,
       [](const T& t) { return t.config.family; }},
      {"time_us", "us", "median time of the configuration in microseconds", 1, kEverywhere,
       member<&T::time_us>},
      {"regret_percent", "regret %",
       "by how many percent the configuration is slower than the problem's winner", 2, kEverywhere,
       member<&T::regret_percent>},
      {"tie_group", "tie",
       "number of the tie group: results with the same number cannot be told apart by their times",
       0, kEverywhere, member<&T::tie_group>},
      {"verified", "verified", "how the output was found correct, e.g. gpu; null: it was not", 0,
       kEverywhere, [](const T& t) { return text_or_none(t.verified); }},
      {"sources_recorded", "sources",
       "true: measured with the sources of source_hash; false: the file does not say with which "
       "sources",
       0, kForPrograms, member<&T::sources_recorded>},
  };
  return fields;
}

const std::vector<Field<ExportRow>>& export_row_fields() {
  using R = ExportRow;
  static const std::vector<Field<R>> fields{
      {"problem", "problem", "the problem that was tuned", 0, kEverywhere,
       [](const R& r) { return describe(r.tuned.problem); }, ColumnFit{.least = 14}},
      {"gpu", "gpu", "product name of the GPU", 0, kEverywhere,
       [](const R& r) { return r.tuned.gpu.name; }, ColumnFit{.leaves = 3, .once = true}},
      {"arch", "arch", "architecture of the GPU", 0, kForPrograms,
       [](const R& r) { return arch_name(r.tuned.gpu.arch); }},
      {"sm_count", "SMs", "number of SMs of the GPU", 0, kForPrograms,
       [](const R& r) { return r.tuned.gpu.sm_count; }},
      {"config", "config", "short form of the winner", 0, kEverywhere,
       [](const R& r) { return winner_of(r).short_form; }, ColumnFit{.least = 24, .config = true}},
      {"family", "family", "kernel family of the winner", 0, kForPrograms,
       [](const R& r) { return winner_of(r).config.family; }},
      {"source_hash", "source",
       "SHA-256 of the kernel family's sources, as this version of fatune compiles them", 0,
       kForPrograms, [](const R& r) { return hash_of(r.report, winner_of(r).config); }},
      {"time_us", "us", "median time of the winner in microseconds", 1, kEverywhere,
       [](const R& r) { return winner_of(r).time_us; }, ColumnFit{.leaves = 4}},
      {"regret_percent", "regret %",
       "by how many percent the winner is slower than the fastest configuration measured; more "
       "than 0 if that was skipped or is not in the cover",
       2, kEverywhere, [](const R& r) { return winner_of(r).regret_percent; },
       ColumnFit{.leaves = 5}},
      {"tie_group", "tie",
       "number of the tie group of the winner: alternatives with the same number cannot be told "
       "apart from it",
       0, kForPrograms, [](const R& r) { return winner_of(r).tie_group; }},
      {"verified", "verified", "how the output was found correct, e.g. gpu; null: it was not", 0,
       kForPrograms, [](const R& r) { return text_or_none(winner_of(r).verified); }},
      {"sources_recorded", "sources",
       "true: measured with the sources of source_hash; false: the file does not say with which "
       "sources",
       0, kForPrograms, [](const R& r) { return winner_of(r).sources_recorded; }},
      {"origin", "origin", "number in origins, from 0, of what measured the problem", 0,
       kForPrograms, [](const R& r) { return r.tuned.origin; }},
      {"left_out_step", "without it",
       "step that would make the choice for the problem without this row (docs/export.md)", 0,
       kEverywhere, [](const R& r) { return choice_step_name(r.left_out.choice.step); },
       ColumnFit{.leaves = 2}},
      {"left_out_config", "chosen",
       "short form of what would be chosen for the problem without this row; null: nothing is "
       "eligible",
       0, kEverywhere, [](const R& r) { return text_or_none(r.left_out.choice.short_form); },
       ColumnFit{.leaves = 1, .least = 24, .config = true}},
      {"left_out_regret_percent", "its regret %",
       "by how many percent left_out_config is slower than the winner; null: its time on the "
       "problem is not known",
       2, kEverywhere, left_out_regret},
  };
  return fields;
}

const std::vector<Field<ExportDefault>>& export_default_fields() {
  using D = ExportDefault;
  static const std::vector<Field<D>> fields{
      {"gpu", "gpu", "product name of the GPU", 0, kEverywhere,
       [](const D& d) { return d.chosen.gpu.name; }},
      {"arch", "arch", "architecture of the GPU", 0, kEverywhere,
       [](const D& d) { return arch_name(d.chosen.gpu.arch); }},
      {"sm_count", "SMs", "number of SMs of the GPU", 0, kEverywhere,
       [](const D& d) { return d.chosen.gpu.sm_count; }},
      {"dtype", "dtype", "element type of Q, K, V and O", 0, kEverywhere,
       [](const D& d) { return dtype_name(d.chosen.dtype); }},
      {"d_head", "d_head", "head dimension of Q and K", 0, kEverywhere,
       [](const D& d) { return d.chosen.d_head; }},
      {"d_head_v", "d_head_v", "head dimension of V and O", 0, kEverywhere,
       [](const D& d) { return d.chosen.d_head_v; }},
      {"causal", "causal", "whether a query sees only keys up to its own position", 0, kEverywhere,
       [](const D& d) { return d.chosen.causal; }},
      {"config", "config", "short form of the configuration that is chosen if no row is near", 0,
       kEverywhere, [](const D& d) { return d.chosen.short_form; }},
      {"family", "family", "kernel family of the configuration; each family has a default", 0,
       kEverywhere, [](const D& d) { return d.chosen.config.family; }},
      {"source_hash", "source",
       "SHA-256 of the kernel family's sources, as this version of fatune compiles them", 0,
       kEverywhere, [](const D& d) { return hash_of(d.report, d.chosen.config); }},
      {"problems", "problems", "number of tuned problems of this type, head dimensions and mask", 0,
       kEverywhere, [](const D& d) { return d.chosen.problems; }},
      {"measured_on", "measured on",
       "number of these problems on which the configuration's time is known", 0, kEverywhere,
       [](const D& d) { return d.chosen.measured_on; }},
      {"mean_regret_percent", "mean %",
       "by how many percent the configuration is slower than the winners of these problems: "
       "geometric mean",
       2, kEverywhere, [](const D& d) { return d.chosen.mean_regret_percent; }},
      {"worst_regret_percent", "worst %",
       "by how many percent the configuration is slower than the winner, on the one of these "
       "problems where this is greatest",
       2, kEverywhere, [](const D& d) { return d.chosen.worst_regret_percent; }},
  };
  return fields;
}

const std::vector<Field<StepRegrets>>& step_regret_fields() {
  using S = StepRegrets;
  static const std::vector<Field<S>> fields{
      {"step", "chosen by", "step that made the choices (docs/export.md), or all", 0, kEverywhere,
       member<&S::step>},
      {"problems", "problems", "number of tuned problems that were left out, one after the other",
       0, kEverywhere, [](const S& s) { return s.regrets.problems; }},
      {"winners", "winner", "number of these problems for which the winner was chosen", 0,
       kEverywhere, [](const S& s) { return s.regrets.winners; }},
      {"ties", "or tied",
       "number of these problems for which the winner, or a configuration that cannot be told "
       "apart from it, was chosen",
       0, kEverywhere, [](const S& s) { return s.regrets.ties; }},
      {"known", "regret known",
       "number of these problems on which the time of the chosen configuration is known", 0,
       kEverywhere, [](const S& s) { return s.regrets.known; }},
      {"median_percent", "median %", "median of the known regrets, in percent; null: none is known",
       2, kEverywhere, [](const S& s) { return s.regrets.median_percent; }},
      {"worst_percent", "worst %", "greatest of the known regrets, in percent; null: none is known",
       2, kEverywhere, [](const S& s) { return s.regrets.worst_percent; }},
  };
  return fields;
}

const std::vector<Field<SkippedResult>>& skipped_result_fields() {
  using S = SkippedResult;
  static const std::vector<Field<S>> fields{
      {"origin", "origin", "name of the file or stored run that the result is from", 0, kEverywhere,
       member<&S::origin>, ColumnFit{.once = true}},
      {"problem", "problem", "problem of the skipped result", 0, kEverywhere, member<&S::problem>},
      {"config", "config",
       "short form of the skipped configuration; null: all results of the problem are skipped", 0,
       kEverywhere, [](const S& s) { return text_or_none(s.config); },
       ColumnFit{.least = 24, .config = true}},
      {"reason", "reason", "why the result is not used", 0, kEverywhere, member<&S::reason>,
       kWraps},
  };
  return fields;
}

const std::vector<Field<CoveringConfig>>& covering_config_fields() {
  using C = CoveringConfig;
  static const std::vector<Field<C>> fields{
      {"config", "config", "the configuration's short form", 0, kEverywhere, member<&C::short_form>,
       ColumnFit{.least = 24, .config = true}},
      {"family", "family", "kernel family of the configuration", 0, kEverywhere,
       [](const C& c) { return c.config.family; }, ColumnFit{.leaves = 1}},
      {"problems", "problems",
       "number of tuned problems on which the configuration is the best of the cover", 0,
       kEverywhere, member<&C::problems>},
      {"mean_regret_percent", "mean %",
       "by how many percent the configuration is slower than the winners of these problems: "
       "geometric mean",
       2, kEverywhere, member<&C::mean_regret_percent>},
      {"worst_regret_percent", "worst %",
       "by how many percent the configuration is slower than the winner, on the one of these "
       "problems where this is greatest",
       2, kEverywhere, member<&C::worst_regret_percent>},
  };
  return fields;
}

Document export_document(const ExportReport& report) {
  return {[&] { return blocks_of(report); },
          [&] { return table_of(export_row_fields(), rows_of(report)); },
          [&] { return export_object(report); }};
}

std::string export_json(const ExportReport& report) { return json_text(export_object(report)); }

std::string cover_text(const Cover& cover) {
  return fmt::format(
      "{} instead of {} winning configurations: one is within {:g} % on every problem; {}",
      cover.configs.size(), cover.winners, cover.percent,
      cover.exact ? "by the times that are known, no smaller set is as good"
                  : "a greedy choice, a smaller set may be as good");
}

Document cover_document(const Cover& cover) {
  return {[&] { return cover_blocks(cover); },
          [&] { return table_of(covering_config_fields(), cover.configs); },
          [&] { return json_cover(cover); }};
}

}  // namespace fatune

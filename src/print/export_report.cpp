#include "print/export_report.hpp"

#include <fmt/format.h>

#include "base/ranges.hpp"
#include "base/visible_text.hpp"
#include "model/record_json.hpp"

namespace fatune {
namespace {

/// The most alternatives that are exported with a row. A reader takes one if the winner is not
/// eligible.
constexpr std::size_t kAlternatives = 4;

const TunedTime& winner_of(const ExportRow& row) { return row.tuned.times.front(); }

std::string hash_of(const ExportReport& report, const Config& config) {
  return report.source_hashes.at(config.family);
}

std::string_view kv_dtype_name(const DefaultConfig& chosen) {
  return dtype_name(chosen.kv.dtype == fatune_attention::KvDType::of_q
                        ? chosen.dtype
                        : static_cast<DType>(chosen.kv.dtype));
}

const auto left_out_regret = [](const ExportRow& row) { return row.left_out.regret_percent; };
const auto left_out_tried = [](const ExportRow& row) { return row.left_out.tried_regret_percent; };

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
  return mapped(report.left_out, [&](const LeftOut& left_out) {
    return ExportRow{report, report.table.problems[left_out.row], left_out};
  });
}

std::vector<ExportDefault> defaults_of(const ExportReport& report) {
  return mapped(report.table.defaults, [&](const DefaultConfig& chosen) {
    return ExportDefault{report, chosen};
  });
}

/// A row for each step that made a choice, and one for all together.
std::vector<StepRegrets> regrets_of(const ExportReport& report) {
  std::vector<StepRegrets> rows;
  for (const ChoiceStep step :
       {ChoiceStep::predicted, ChoiceStep::same_bucket, ChoiceStep::neighbour_bucket,
        ChoiceStep::same_arch, ChoiceStep::nearest, ChoiceStep::fallback, ChoiceStep::refused}) {
    const RegretSummary regrets = summarize_regrets(report.left_out, step);
    if (regrets.problems > 0) {
      rows.push_back({std::string(choice_step_name(step)), regrets});
    }
  }
  rows.push_back({"all", summarize_regrets(report.left_out)});
  return rows;
}

Json json_families(const ExportReport& report) {
  return json_list(report.source_hashes, [](const auto& one) {
    return Json{{"family", one.first}, {"source_hash", one.second}};
  });
}

Json json_cover(const Cover& cover) {
  return {{"percent", json_value(optional_value(cover.percent))},
          {"exact", cover.exact},
          {"winners", cover.winners},
          {"winners_us", json_value(optional_value(unless_empty(cover.winners_us)))},
          {"total_us", json_value(optional_value(unless_empty(cover.total_us)))},
          {"configs", json_rows(covering_config_fields(), cover.configs)}};
}

Json export_object(const ExportReport& report) {
  return json_document(
      "export",
      {{"fatune", report.fatune_version},
       {"origins", json_rows(tuned_origin_fields(), report.table.origins)},
       {"families", json_families(report)},
       {"gpus", json_list(report.table.gpus, [](auto& gpu) { return record_json(gpu.second); })},
       {"rows", json_list(rows_of(report), json_export_row)},
       {"defaults", json_rows(export_default_fields(), defaults_of(report))},
       {"skipped", json_rows(skipped_result_fields(), report.table.skipped)},
       {"cover", report.cover ? json_cover(*report.cover) : Json(nullptr)},
       {"left_out", json_rows(step_regret_fields(), regrets_of(report))}});
}

Blocks cover_blocks(const Cover& cover) {
  return {block::Text{"\n"}, block::Heading{cover_text(cover)},
          block::Rows{table_of(covering_config_fields(), cover.configs)}};
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
    blocks.push_back(
        block::Line{fmt::format("{} ({}, {} SMs)", gpu.name, arch_name(gpu.arch), gpu.sm_count)});
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

const auto chosen_hash = [](const PredictionRow& row) {
  const TunedChoice& choice = row.prediction.choice;
  return choice.step == ChoiceStep::refused
             ? std::nullopt
             : std::optional(row.report.known.source_hashes.at(choice.config.family));
};

/// The tuned problem that the choice was taken from; null if there is none.
const TunedProblem* row_of(const PredictionRow& row) {
  const auto& index = row.prediction.choice.row;
  return index ? &row.report.known.table.problems[*index] : nullptr;
}

/// The GPU whose times made the choice.
std::optional<GpuModel> tuned_gpu(const PredictionRow& row) {
  const TunedProblem* const tuned = row_of(row);
  return tuned == nullptr ? row.prediction.choice.predicted_by : std::optional(tuned->gpu);
}

std::vector<NeighbourRow> neighbours_of(const PredictionRow& row) {
  return mapped(row.prediction.neighbours, [&](const Neighbour& neighbour) {
    return NeighbourRow{row.report.known.table, neighbour};
  });
}

const TunedProblem& tuned(const NeighbourRow& row) {
  return row.table.problems[static_cast<std::size_t>(row.neighbour.near.row)];
}

Json json_neighbour(const NeighbourRow& row) {
  Json json = json_object(neighbour_fields(), row);
  json["problem"] = record_json(tuned(row).problem);
  return json;
}

Json json_prediction(const PredictionRow& row) {
  Json json = json_object(prediction_fields(), row);
  json["problem"] = record_json(row.prediction.problem);
  json["neighbours"] = json_list(neighbours_of(row), json_neighbour);
  return json;
}

std::vector<PredictionRow> rows_of(const PredictReport& report) {
  return mapped(report.predictions, [&](const Prediction& prediction) {
    return PredictionRow{report, prediction};
  });
}

/// The tuned GPU in place of a device on which nothing was tuned.
std::optional<std::string> near_gpu(const PredictReport& report) {
  const auto& gpus = report.known.table.gpus;
  if (gpus.contains(model_of(report.device))) {
    return std::nullopt;
  }
  const auto near =
      nearest_device(mapped(gpus, [](const auto& gpu) { return gpu.second; }), report.device);
  return near ? std::optional(near->name) : std::nullopt;
}

Blocks device_lines(const PredictReport& report) {
  Blocks blocks{block::Line{"for " + report.device.name +
                            (report.why_device.empty() ? "" : ": " + report.why_device)}};
  if (const auto near = near_gpu(report)) {
    blocks.push_back(block::Line{fmt::format(
        "nothing was tuned on it; choices are from {}, the nearest GPU of its architecture",
        *near)});
  }
  blocks.push_back(block::Text{"\n"});
  return blocks;
}

std::optional<std::string> measuring_command(const PredictionRow& row) {
  return row.prediction.choice.untuned.empty()
             ? std::nullopt
             : std::optional("fatune sweep " + option_text(row.prediction.problem));
}

/// Says of each problem outside the tuned range why, and how to measure it.
Blocks untuned_blocks(const PredictReport& report) {
  Blocks blocks;
  for (const PredictionRow& row : rows_of(report)) {
    if (const auto command = measuring_command(row)) {
      append(blocks,
             {block::Text{"\n"},
              block::Warning{describe(row.prediction.problem) + ": no tuned problem is like it"},
              block::Verbatim{fmt::format("  {}\n  the configuration may be far from the fastest; "
                                          "to measure:\n  {}\n",
                                          visible_line(row.prediction.choice.untuned), *command)}});
    }
  }
  return blocks;
}

/// Names the problems whose times another GPU's predict, though this one was tuned.
Blocks other_gpu_blocks(const PredictReport& report) {
  Blocks blocks;
  if (near_gpu(report)) {
    return blocks;  // device_lines() says it of all
  }
  for (const PredictionRow& row : rows_of(report)) {
    const auto& by = row.prediction.choice.predicted_by;
    if (by && *by != model_of(report.device)) {
      append(blocks, {block::Text{"\n"},
                      block::Line{fmt::format("{}: predicted from times of {}, which has nearer "
                                              "tuned problems",
                                              describe(row.prediction.problem), by->name)}});
    }
  }
  return blocks;
}

Blocks blocks_of(const PredictReport& report) {
  Blocks blocks = device_lines(report);
  blocks.push_back(block::Rows{table_of(prediction_fields(), rows_of(report))});
  append(blocks, other_gpu_blocks(report));
  append(blocks, untuned_blocks(report));
  for (const PredictionRow& row : rows_of(report)) {
    if (!row.prediction.neighbours.empty()) {
      append(blocks,
             {block::Text{"\n"}, block::Heading{"tuned beside " + describe(row.prediction.problem)},
              block::Rows{table_of(neighbour_fields(), neighbours_of(row))}});
    }
  }
  return blocks;
}

}  // namespace

Fields<TunedOrigin> tuned_origin_fields() {
  using O = TunedOrigin;
  return {
      {"name", "name", &O::name},
      {"started_at", "started", &O::started_at},
      {"fatune", "fatune", &O::fatune_version},
      {"nvrtc", "NVRTC", or_none<&O::nvrtc_version>},
      {"driver", "driver", or_none<&O::driver>},
      {"complete", "complete", &O::complete},
  };
}

Fields<TunedTime> tuned_time_fields() {
  using T = TunedTime;
  return {
      {"config", "config", &T::short_form},
      {"family", "family", [](auto& t) { return t.config.family; }},
      {"time_us", "us", decimals(1), &T::time_us},
      {"regret_percent", "regret %", decimals(2), &T::regret_percent},
      {"tie_group", "tie", &T::tie_group},
      {"verified", "verified", or_none<&T::verified>},
      {"sources_recorded", "sources", kProgramsOnly, &T::sources_recorded},
  };
}

Fields<ExportRow> export_row_fields() {
  return {
      {"problem", "problem", kWraps, [](auto& r) { return describe(r.tuned.problem); }},
      {"gpu", "gpu", [](auto& r) { return r.tuned.gpu.name; }},
      {"arch", "arch", kProgramsOnly, [](auto& r) { return arch_name(r.tuned.gpu.arch); }},
      {"sm_count", "SMs", kProgramsOnly, [](auto& r) { return r.tuned.gpu.sm_count; }},
      {"config", "config", kWraps, [](auto& r) { return winner_of(r).short_form; }},
      {"family", "family", kProgramsOnly, [](auto& r) { return winner_of(r).config.family; }},
      {"source_hash", "source", kProgramsOnly,
       [](auto& r) { return hash_of(r.report, winner_of(r).config); }},
      {"calls", "calls", decimals(0, kForPrograms), [](auto& r) { return r.tuned.calls; }},
      {"time_us", "us", decimals(1), [](auto& r) { return winner_of(r).time_us; }},
      {"regret_percent", "regret %", decimals(2),
       [](auto& r) { return winner_of(r).regret_percent; }},
      {"tie_group", "tie", kProgramsOnly, [](auto& r) { return winner_of(r).tie_group; }},
      {"verified", "verified", kProgramsOnly,
       [](auto& r) { return text_or_none(winner_of(r).verified); }},
      {"sources_recorded", "sources", kProgramsOnly,
       [](auto& r) { return winner_of(r).sources_recorded; }},
      {"origin", "origin", kProgramsOnly, [](auto& r) { return r.tuned.origin; }},
      {"left_out_step", "without it",
       [](auto& r) { return choice_step_name(r.left_out.choice.step); }},
      {"left_out_config", "chosen", kWraps,
       [](auto& r) { return text_or_none(r.left_out.choice.short_form); }},
      {"left_out_regret_percent", "its regret %", decimals(2), left_out_regret},
      {"left_out_tried_percent", "tried %", decimals(2), left_out_tried},
  };
}

Fields<ExportDefault> export_default_fields() {
  return {
      {"gpu", "gpu", [](auto& d) { return d.chosen.gpu.name; }},
      {"arch", "arch", [](auto& d) { return arch_name(d.chosen.gpu.arch); }},
      {"sm_count", "SMs", [](auto& d) { return d.chosen.gpu.sm_count; }},
      {"dtype", "dtype", [](auto& d) { return dtype_name(d.chosen.dtype); }},
      {"d_head", "d_head", [](auto& d) { return d.chosen.d_head; }},
      {"d_head_v", "d_head_v", [](auto& d) { return d.chosen.d_head_v; }},
      {"causal", "causal", [](auto& d) { return d.chosen.causal; }},
      {"few_queries", "few queries", [](auto& d) { return d.chosen.few_queries; }},
      {"kv_dtype", "K and V", [](auto& d) { return kv_dtype_name(d.chosen); }},
      {"key_scales", "key scales", [](auto& d) { return d.chosen.kv.key_scales; }},
      {"config", "config", [](auto& d) { return d.chosen.short_form; }},
      {"family", "family", [](auto& d) { return d.chosen.config.family; }},
      {"source_hash", "source", [](auto& d) { return hash_of(d.report, d.chosen.config); }},
      {"problems", "problems", [](auto& d) { return d.chosen.problems; }},
      {"measured_on", "measured on", [](auto& d) { return d.chosen.measured_on; }},
      {"mean_regret_percent", "mean %", decimals(2),
       [](auto& d) { return d.chosen.mean_regret_percent; }},
      {"worst_regret_percent", "worst %", decimals(2),
       [](auto& d) { return d.chosen.worst_regret_percent; }},
  };
}

Fields<StepRegrets> step_regret_fields() {
  using S = StepRegrets;
  return {
      {"step", "chosen by", &S::step},
      {"problems", "problems", [](auto& s) { return s.regrets.problems; }},
      {"winners", "winner", [](auto& s) { return s.regrets.winners; }},
      {"ties", "or tied", [](auto& s) { return s.regrets.ties; }},
      {"known", "regret known", [](auto& s) { return s.regrets.known.problems; }},
      {"median_percent", "median %", decimals(2),
       [](auto& s) { return s.regrets.known.median_percent; }},
      {"worst_percent", "worst %", decimals(2),
       [](auto& s) { return s.regrets.known.worst_percent; }},
      {"tried_known", "tried known", [](auto& s) { return s.regrets.tried.problems; }},
      {"tried_median_percent", "median %", decimals(2),
       [](auto& s) { return s.regrets.tried.median_percent; }},
      {"tried_worst_percent", "worst %", decimals(2),
       [](auto& s) { return s.regrets.tried.worst_percent; }},
  };
}

Fields<SkippedResult> skipped_result_fields() {
  using S = SkippedResult;
  return {
      {"origin", "origin", &S::origin},
      {"problem", "problem", &S::problem},
      {"config", "config", kWraps, or_none<&S::config>},
      {"reason", "reason", kWraps, &S::reason},
  };
}

Fields<CoveringConfig> covering_config_fields() {
  using C = CoveringConfig;
  return {
      {"config", "config", kWraps, &C::short_form},
      {"family", "family", [](auto& c) { return c.config.family; }},
      {"problems", "problems", &C::problems},
      {"mean_regret_percent", "mean %", decimals(2), &C::mean_regret_percent},
      {"worst_regret_percent", "worst %", decimals(2), &C::worst_regret_percent},
  };
}

Document export_document(const ExportReport& report) {
  return {[&] { return blocks_of(report); },
          [&] { return table_of(export_row_fields(), rows_of(report)); },
          [&] { return export_object(report); }};
}

std::string export_json(const ExportReport& report) { return json_text(export_object(report)); }

std::string cover_text(const Cover& cover) {
  std::string text =
      fmt::format("{} instead of {} winning configurations: ", cover.configs.size(), cover.winners);
  text += cover.percent
              ? fmt::format("one is within {:g} % on every problem; {}", *cover.percent,
                            cover.exact ? "by the times that are known, no smaller set is as good"
                                        : "a greedy choice, a smaller set may be as good")
              : "a set that grew by the one that helps most";
  if (cover.winners_us > 0.0) {
    text +=
        fmt::format("; all calls take {:.2f} ms with them, {:.2f} ms with the winners, {:+.2f} %",
                    cover.total_us / kUsPerMs, cover.winners_us / kUsPerMs,
                    100.0 * (cover.total_us / cover.winners_us - 1.0));
  }
  return text;
}

Document cover_document(const Cover& cover) {
  return {[&] { return cover_blocks(cover); },
          [&] { return table_of(covering_config_fields(), cover.configs); },
          [&] { return json_cover(cover); }};
}

Fields<PredictionRow> prediction_fields() {
  return {
      {"problem", "problem", kWraps, [](auto& p) { return describe(p.prediction.problem); }},
      {"step", "chosen by", [](auto& p) { return choice_step_name(p.prediction.choice.step); }},
      {"config", "config", kWraps,
       [](auto& p) { return text_or_none(p.prediction.choice.short_form); }},
      {"family", "family", kProgramsOnly,
       [](auto& p) { return text_or_none(p.prediction.choice.config.family); }},
      {"source_hash", "source", kProgramsOnly, chosen_hash},
      {"tuned_on", "tuned on", kWraps,
       [](auto& p) { return if_any(row_of(p), [](auto& row) { return describe(row.problem); }); }},
      {"tuned_on_gpu", "of", kProgramsOnly,
       [](auto& p) { return if_any(tuned_gpu(p), [](auto& gpu) { return gpu.name; }); }},
      {"predicted_us", "us", decimals(1), [](auto& p) { return p.prediction.choice.predicted_us; }},
      {"expected_time_error_percent", "within %", decimals(1),
       [](auto& p) { return p.prediction.expected.time_error.typical_percent; }},
      {"worst_time_error_percent", "worst", kProgramsOnly,
       [](auto& p) { return p.prediction.expected.time_error.worst_percent; }},
      {"expected_regret_percent", "regret %", decimals(2),
       [](auto& p) { return p.prediction.expected.regret.typical_percent; }},
      {"worst_regret_percent", "worst %", decimals(2),
       [](auto& p) { return p.prediction.expected.regret.worst_percent; }},
      {"regrets_known", "of", [](auto& p) { return p.prediction.expected.known; }},
      {"untuned", "untuned", kProgramsOnly,
       [](auto& p) { return text_or_none(p.prediction.choice.untuned); }},
      {"measure_with", "measure with", kProgramsOnly, measuring_command},
      {"reason", "reason", kWraps,
       [](auto& p) { return text_or_none(p.prediction.choice.refusal); }},
  };
}

Fields<NeighbourRow> neighbour_fields() {
  return {
      {"problem", "problem", kWraps, [](auto& n) { return describe(tuned(n).problem); }},
      {"gpu", "gpu", [](auto& n) { return tuned(n).gpu.name; }},
      {"buckets_apart", "buckets", [](auto& n) { return n.neighbour.near.distance.buckets; }},
      {"octaves_apart", "octaves", decimals(2),
       [](auto& n) { return n.neighbour.near.distance.octaves; }},
      {"winner", "winner", kWraps, [](auto& n) { return tuned(n).times.front().short_form; }},
      {"time_us", "us", decimals(1), [](auto& n) { return tuned(n).times.front().time_us; }},
      {"regret_percent", "regret %", decimals(2),
       [](auto& n) { return n.neighbour.regret_percent; }},
  };
}

Document predict_document(const PredictReport& report) {
  return {[&] { return blocks_of(report); },
          [&] { return table_of(prediction_fields(), rows_of(report)); },
          [&] {
            return json_document("predict",
                                 {{"device", record_json(report.device)},
                                  {"why_device", json_or_null(report.why_device)},
                                  {"near_gpu", json_or_null(near_gpu(report))},
                                  {"predictions", json_list(rows_of(report), json_prediction)}});
          }};
}

}  // namespace fatune

#include "emit/export_report.hpp"

#include <fmt/format.h>

#include "core/ranges.hpp"
#include "core/visible_text.hpp"
#include "record/record_json.hpp"

namespace fatune {
namespace {

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

std::vector<NeighbourRow> neighbours_of(const PredictionRow& row) {
  std::vector<NeighbourRow> rows;
  for (const Neighbour& neighbour : row.prediction.neighbours) {
    rows.push_back({row.report.known.table, neighbour});
  }
  return rows;
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
  std::vector<PredictionRow> rows;
  for (const Prediction& prediction : report.predictions) {
    rows.push_back({report, prediction});
  }
  return rows;
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

Json predict_object(const PredictReport& report) {
  Json json = json_head("predict");
  json["device"] = record_json(report.device);
  json["why_device"] = json_or_null(report.why_device);
  json["near_gpu"] = json_or_null(near_gpu(report));
  json["predictions"] = json_list(rows_of(report), json_prediction);
  return json;
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

Blocks blocks_of(const PredictReport& report) {
  Blocks blocks = device_lines(report);
  blocks.push_back(block::Rows{table_of(prediction_fields(), rows_of(report))});
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

Fields<PredictionRow> prediction_fields() {
  using P = PredictionRow;
  return {
      {"problem", "problem", kWraps, [](const P& p) { return describe(p.prediction.problem); }},
      {"step", "chosen by", [](const P& p) { return choice_step_name(p.prediction.choice.step); }},
      {"config", "config", kWraps,
       [](const P& p) { return text_or_none(p.prediction.choice.short_form); }},
      {"family", "family", kProgramsOnly,
       [](const P& p) { return text_or_none(p.prediction.choice.config.family); }},
      {"source_hash", "source", kProgramsOnly, chosen_hash},
      {"tuned_on", "tuned on", kWraps,
       [](const P& p) {
         const TunedProblem* const row = row_of(p);
         return row == nullptr ? std::nullopt : std::optional(describe(row->problem));
       }},
      {"tuned_on_gpu", "of", kProgramsOnly,
       [](const P& p) {
         const TunedProblem* const row = row_of(p);
         return row == nullptr ? std::nullopt : std::optional(row->gpu.name);
       }},
      {"expected_regret_percent", "expected %", Look{.decimals = 2},
       [](const P& p) { return p.prediction.regret.typical_percent; }},
      {"worst_regret_percent", "worst %", Look{.decimals = 2},
       [](const P& p) { return p.prediction.regret.worst_percent; }},
      {"regrets_known", "of", [](const P& p) { return p.prediction.regret.known; }},
      {"untuned", "untuned", kProgramsOnly,
       [](const P& p) { return text_or_none(p.prediction.choice.untuned); }},
      {"measure_with", "measure with", kProgramsOnly, measuring_command},
      {"reason", "reason", kWraps,
       [](const P& p) { return text_or_none(p.prediction.choice.refusal); }},
  };
}

Fields<NeighbourRow> neighbour_fields() {
  using N = NeighbourRow;
  return {
      {"problem", "problem", kWraps, [](const N& n) { return describe(tuned(n).problem); }},
      {"gpu", "gpu", [](const N& n) { return tuned(n).gpu.name; }},
      {"buckets_apart", "buckets", [](const N& n) { return n.neighbour.near.distance.buckets; }},
      {"octaves_apart", "octaves", Look{.decimals = 2},
       [](const N& n) { return n.neighbour.near.distance.octaves; }},
      {"winner", "winner", kWraps, [](const N& n) { return tuned(n).times.front().short_form; }},
      {"time_us", "us", Look{.decimals = 1},
       [](const N& n) { return tuned(n).times.front().time_us; }},
      {"regret_percent", "regret %", Look{.decimals = 2},
       [](const N& n) { return n.neighbour.regret_percent; }},
  };
}

Document predict_document(const PredictReport& report) {
  return {[&] { return blocks_of(report); },
          [&] { return table_of(prediction_fields(), rows_of(report)); },
          [&] { return predict_object(report); }};
}

}  // namespace fatune

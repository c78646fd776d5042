#include "emit/predict_report.hpp"

#include <fmt/format.h>

#include "core/ranges.hpp"
#include "core/visible_text.hpp"
#include "emit/device_fields.hpp"
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
  json.update(json_object(predict_properties(), report));
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

const std::vector<Field<PredictionRow>>& prediction_fields() {
  using P = PredictionRow;
  static const std::vector<Field<P>> fields{
      {"problem", "problem", "the problem that a configuration is chosen for", 0, kEverywhere,
       [](const P& p) { return describe(p.prediction.problem); }, ColumnFit{.least = 14}},
      {"step", "chosen by", "step that made the choice (docs/export.md)", 0, kEverywhere,
       [](const P& p) { return choice_step_name(p.prediction.choice.step); }},
      {"config", "config", "short form of the chosen configuration; null: nothing is eligible", 0,
       kEverywhere, [](const P& p) { return text_or_none(p.prediction.choice.short_form); },
       ColumnFit{.least = 24, .config = true}},
      {"family", "family", "kernel family of the chosen configuration; null: nothing is eligible",
       0, kForPrograms, [](const P& p) { return text_or_none(p.prediction.choice.config.family); }},
      {"source_hash", "source", "SHA-256 of the kernel family's sources; null: nothing is eligible",
       0, kForPrograms, chosen_hash},
      {"tuned_on", "tuned on",
       "tuned problem that the choice was taken from; null: the choice is a default, or nothing is "
       "eligible",
       0, kEverywhere,
       [](const P& p) {
         const TunedProblem* const row = row_of(p);
         return row == nullptr ? std::nullopt : std::optional(describe(row->problem));
       },
       ColumnFit{.leaves = 2, .least = 14}},
      {"tuned_on_gpu", "of",
       "product name of the GPU that tuned_on was tuned on; null: tuned_on is null", 0,
       kForPrograms,
       [](const P& p) {
         const TunedProblem* const row = row_of(p);
         return row == nullptr ? std::nullopt : std::optional(row->gpu.name);
       }},
      {"expected_regret_percent", "expected %",
       "regret to expect, in percent: the median regret of such choices for tuned problems that "
       "were left out; null: not known, as outside the range that was tuned (untuned)",
       2, kEverywhere, [](const P& p) { return p.prediction.regret.typical_percent; }},
      {"worst_regret_percent", "worst %",
       "greatest of the regrets that expected_regret_percent is computed from; null: not known", 2,
       kEverywhere, [](const P& p) { return p.prediction.regret.worst_percent; }},
      {"regrets_known", "of",
       "number of regrets that expected_regret_percent and worst_regret_percent are computed from",
       0, kEverywhere, [](const P& p) { return p.prediction.regret.known; },
       ColumnFit{.leaves = 1}},
      {"untuned", "untuned",
       "why no tuned problem is like this one: the property that is outside the range that was "
       "tuned, its value, and that range (docs/export.md); null: the problem is in the range, or "
       "nothing is eligible",
       0, kForPrograms, [](const P& p) { return text_or_none(p.prediction.choice.untuned); }},
      {"measure_with", "measure with",
       "the command that measures the problem; null: untuned is null", 0, kForPrograms,
       [](const P& p) { return measuring_command(p); }},
      {"reason", "reason", "why nothing is eligible; null: a configuration was chosen", 0,
       kEverywhere, [](const P& p) { return text_or_none(p.prediction.choice.refusal); }, kWraps},
  };
  return fields;
}

const Properties<PredictReport>& predict_properties() {
  using R = PredictReport;
  static const Properties<R> properties{
      {"why_device", "why the choices are for this device; null: it was named",
       [](const R& r) { return text_or_none(r.why_device); }},
      {"near_gpu",
       "product name of the nearest tuned GPU of the device's architecture; null: problems were "
       "tuned on the device itself, or on no GPU of its architecture",
       [](const R& r) { return near_gpu(r); }},
  };
  return properties;
}

const std::vector<Field<NeighbourRow>>& neighbour_fields() {
  using N = NeighbourRow;
  static const std::vector<Field<N>> fields{
      {"problem", "problem", "the tuned problem", 0, kEverywhere,
       [](const N& n) { return describe(tuned(n).problem); }, ColumnFit{.least = 14}},
      {"gpu", "gpu", "product name of the GPU that the problem was tuned on", 0, kEverywhere,
       [](const N& n) { return tuned(n).gpu.name; }, ColumnFit{.leaves = 2, .once = true}},
      {"buckets_apart", "buckets", "number of buckets between the two problems (docs/export.md)", 0,
       kEverywhere, [](const N& n) { return n.neighbour.near.distance.buckets; }},
      {"octaves_apart", "octaves",
       "number of octaves between the two problems: the sum over all numbers of docs/export.md", 2,
       kEverywhere, [](const N& n) { return n.neighbour.near.distance.octaves; },
       ColumnFit{.leaves = 1}},
      {"winner", "winner", "short form of the tuned problem's winner", 0, kEverywhere,
       [](const N& n) { return tuned(n).times.front().short_form; },
       ColumnFit{.least = 24, .config = true}},
      {"time_us", "us", "median time of the winner in microseconds", 1, kEverywhere,
       [](const N& n) { return tuned(n).times.front().time_us; }, ColumnFit{.leaves = 3}},
      {"regret_percent", "regret %",
       "by how many percent the chosen configuration is slower than the winner on the tuned "
       "problem; null: its time there is not known",
       2, kEverywhere, [](const N& n) { return n.neighbour.regret_percent; }},
  };
  return fields;
}

Document predict_document(const PredictReport& report) {
  return {[&] { return blocks_of(report); },
          [&] { return table_of(prediction_fields(), rows_of(report)); },
          [&] { return predict_object(report); }};
}

}  // namespace fatune

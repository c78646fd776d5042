#pragma once

#include "choose/tuned_choice.hpp"
#include "choose/tuned_file.hpp"
#include "print/document/document.hpp"

namespace fatune {

/// A table of tuned problems with the regrets of choices from it. JSON:
/// configs/schema/export.schema.json.
[[nodiscard]] Document export_document(const ExportReport& report);
[[nodiscard]] std::string export_json(const ExportReport& report);

[[nodiscard]] Document cover_document(const Cover& cover);
/// A sentence on how many configurations replace how many winners.
[[nodiscard]] std::string cover_text(const Cover& cover);

struct ExportRow {
  const ExportReport& report;
  const TunedProblem& tuned;
  const LeftOut& left_out;
};
[[nodiscard]] Fields<ExportRow> export_row_fields();

struct ExportDefault {
  const ExportReport& report;
  const DefaultConfig& chosen;
};
[[nodiscard]] Fields<ExportDefault> export_default_fields();

/// How good the choices of one step are.
struct StepRegrets {
  std::string step;  ///< choice_step_name(), or "all"
  RegretSummary regrets;
};
[[nodiscard]] Fields<StepRegrets> step_regret_fields();

[[nodiscard]] Fields<CoveringConfig> covering_config_fields();
[[nodiscard]] Fields<SkippedResult> skipped_result_fields();
[[nodiscard]] Fields<TunedTime> tuned_time_fields();
[[nodiscard]] Fields<TunedOrigin> tuned_origin_fields();

/// The choices for problems on a device. JSON: configs/schema/predict.schema.json.
struct PredictReport {
  const ExportReport& known;
  DeviceLimits device;
  std::string why_device;  ///< why it is this device; empty: the user named it
  std::vector<Prediction> predictions;
};
[[nodiscard]] Document predict_document(const PredictReport& report);

struct PredictionRow {
  const PredictReport& report;
  const Prediction& prediction;
};
[[nodiscard]] Fields<PredictionRow> prediction_fields();

struct NeighbourRow {
  const TunedTable& table;
  const Neighbour& neighbour;
};
[[nodiscard]] Fields<NeighbourRow> neighbour_fields();

}  // namespace fatune

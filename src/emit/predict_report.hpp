#pragma once

#include "emit/document/document.hpp"
#include "tuned/tuned_choice.hpp"
#include "tuned/tuned_file.hpp"

namespace fatune {

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

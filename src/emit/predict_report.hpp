#pragma once

#include "emit/document/document.hpp"
#include "emit/document/property.hpp"
#include "tuned/prediction.hpp"
#include "tuned/tuned_file.hpp"

namespace fatune {

/// The choices for problems on a device. JSON: configs/schema/predict.schema.json.
struct PredictReport {
  const ExportReport& known;
  DeviceLimits device;
  std::string why_device;  ///< why it is this device; empty: the user named it
  std::vector<Prediction> predictions;
};
[[nodiscard]] const Properties<PredictReport>& predict_properties();
[[nodiscard]] Document predict_document(const PredictReport& report);

struct PredictionRow {
  const PredictReport& report;
  const Prediction& prediction;
};
[[nodiscard]] const std::vector<Field<PredictionRow>>& prediction_fields();

struct NeighbourRow {
  const TunedTable& table;
  const Neighbour& neighbour;
};
[[nodiscard]] const std::vector<Field<NeighbourRow>>& neighbour_fields();

}  // namespace fatune

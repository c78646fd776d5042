#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/kernel_code.hpp"
#include "core/outcome.hpp"
#include "report/report.hpp"
#include "store/database.hpp"

// How single values stand in the database's columns.
namespace fatune {

[[nodiscard]] std::string config_column(const Config& config);
/// Usual values are left out, and so are arguments that follow from the problem, so that launches
/// of earlier versions have the same text.
[[nodiscard]] std::string launch_column(const LaunchGeometry& launch);
[[nodiscard]] std::string parameters_column(const std::vector<NamedValue>& parameters);
[[nodiscard]] std::vector<NamedValue> read_parameters(const std::string& text);

/// An outcome as three columns; its samples are rows of their own. The digest covers both, so that
/// a damaged file is never read as a measurement.
struct OutcomeColumns {
  std::string text;
  std::vector<double> samples_us;
  std::string digest;
};
[[nodiscard]] OutcomeColumns outcome_columns(const Outcome& outcome);
/// Error(bad_file) when the digest is not that of the rest, or the text cannot be read.
[[nodiscard]] Outcome read_outcome(const OutcomeColumns& columns);

/// Samples of an outcome, in order.
[[nodiscard]] std::vector<double> load_samples(Database& database, std::int64_t outcome_id);
void save_samples(Database& database, std::int64_t outcome_id, const std::vector<double>& us);

}  // namespace fatune

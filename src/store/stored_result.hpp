#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/kernel_code.hpp"
#include "model/record_json.hpp"
#include "model/report.hpp"
#include "store/database.hpp"

// Values are stored in the database's columns as the text of their records.
namespace fatune {

template <typename Value>
std::string column_text(const Value& value) {
  return record_text(record_json(value));
}
/// Throws Error(bad_file) if the value cannot be read.
template <typename Value>
Value read_column(const Statement& row, int column) {
  return read_record<Value>(parse_record(row.text(column)));
}

/// One text of a run's header. Empty: it has none there.
[[nodiscard]] std::string header_text(const nlohmann::json& header, const char* pointer);

/// Whether a run's header is that of measurements, and not of estimates.
[[nodiscard]] inline bool is_measured(const nlohmann::json& header) {
  return !header.contains("measured") || header["measured"] != false;
}

/// The text of a launch, without standard arguments: these follow from the problem.
[[nodiscard]] std::string launch_column(LaunchGeometry launch);

/// The samples of the result's outcome. They are stored as separate rows.
[[nodiscard]] std::vector<double> samples_of(const Result& result);
/// The text of a result without its samples.
[[nodiscard]] std::string result_column(const Result& result);
/// Loads a result with its samples. `source` is the stored outcome that has the samples. Throws
/// Error(bad_file) if the result cannot be read.
[[nodiscard]] Result load_result(Database& database, const std::string& text, std::int64_t source);

void save_samples(Database& database, std::int64_t outcome_id, const std::vector<double>& us);

}  // namespace fatune

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/kernel_code.hpp"
#include "record/record_json.hpp"
#include "report/report.hpp"
#include "store/database.hpp"

// How values stand in the database's columns: as the text of their records.
namespace fatune {

template <typename Value>
std::string column_text(const Value& value) {
  return record_text(record_json(value));
}
/// Error(bad_file) when it cannot be read.
template <typename Value>
Value read_column(const Statement& row, int column) {
  return read_record<Value>(parse_record(row.text(column)));
}

/// Usual values are left out, and so are arguments that follow from the problem, so that launches
/// of earlier versions have the same text.
[[nodiscard]] std::string launch_column(const LaunchGeometry& launch);

/// The samples of its outcome; they are rows of their own.
[[nodiscard]] std::vector<double> samples_of(const Result& result);
/// A result without its samples.
[[nodiscard]] std::string result_column(const Result& result);
/// With its samples: `source` is the stored outcome that has them. Error(bad_file) when it cannot
/// be read.
[[nodiscard]] Result load_result(Database& database, const std::string& text, std::int64_t source);

void save_samples(Database& database, std::int64_t outcome_id, const std::vector<double>& us);

}  // namespace fatune

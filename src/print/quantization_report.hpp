#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ranges.hpp"
#include "model/outcome.hpp"
#include "model/problem.hpp"
#include "print/document/table.hpp"

// What reports say of the error that elements of 8 bits cost (model/quantization_error.hpp).
namespace fatune {

/// The errors on the kind of input that tells it; null: none does.
[[nodiscard]] const ErrorStats* find_quantization(const std::vector<ErrorStats>& inputs);

/// An output and its problem.
struct QuantizedOutput {
  const Problem* problem = nullptr;
  const ErrorStats* stats = nullptr;  ///< null: its error is not known, and nothing is said of it
};
/// A line for each problem; of several problems, with its name. Empty: there is nothing to say.
[[nodiscard]] std::string quantization_text(const std::vector<QuantizedOutput>& outputs);
/// The same of rows that have a `problem`. `stats_of`: a row's ErrorStats, or null.
template <typename Row, typename StatsOf>
std::string quantization_text(const std::vector<Row>& rows, const StatsOf& stats_of) {
  return quantization_text(mapped(rows, [&](const Row& row) {
    return QuantizedOutput{&row.problem, stats_of(row)};
  }));
}

/// Fields of the error. `stats_of`: a row's ErrorStats, or null.
template <typename Row, typename StatsOf>
Fields<Row> quantization_fields(const StatsOf& stats_of) {
  const auto get = [stats_of](std::optional<double> ErrorStats::*member) {
    return [stats_of, member](const Row& row) {
      const ErrorStats* const stats = stats_of(row);
      return stats == nullptr ? std::nullopt : stats->*member;
    };
  };
  return {{"quantization_rms_percent", "8 bits rms %", decimals(2, kForPrograms),
           get(&ErrorStats::quantization_rms_percent)},
          {"quantization_max_abs_error", "8 bits max err", decimals(6, kForPrograms),
           get(&ErrorStats::quantization_max_abs_error)}};
}

/// The fields, without those of the error unless one of the rows has it: outputs of problems in 16
/// bits have none of them.
template <typename Row, typename StatsOf>
Fields<Row> with_quantization_if_any(const std::vector<Row>& rows, const StatsOf& stats_of,
                                     Fields<Row> fields) {
  const bool any = std::ranges::any_of(rows, [&](const Row& row) {
    const ErrorStats* const stats = stats_of(row);
    return stats != nullptr && stats->quantization_rms_percent.has_value();
  });
  std::erase_if(fields, [&](const Field<Row>& field) {
    return !any && field.name.starts_with("quantization_");
  });
  return fields;
}

}  // namespace fatune

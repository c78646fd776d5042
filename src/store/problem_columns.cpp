#include "store/problem_columns.hpp"

#include "record/record_json.hpp"
#include "store/stored_outcome.hpp"

namespace fatune {

std::string details_text(const Problem& problem) {
  const nlohmann::json details = record_json(problem).at("details");
  return details.empty() ? std::string() : record_text(details);
}

Problem read_problem(const Statement& row, int first) {
  const Problem usual{row.integer(first),
                      row.integer(first + 1),
                      row.integer(first + 2),
                      row.integer(first + 3),
                      static_cast<DType>(row.integer(first + 4)),
                      row.flag(first + 5)};
  const std::string details = row.text(first + 6);
  if (details.empty()) {
    return usual;
  }
  nlohmann::json record = record_json(usual);
  record["details"] = parse_record(details);
  return read_record<Problem>(record);
}

}  // namespace fatune

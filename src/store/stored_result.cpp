#include "store/stored_result.hpp"

#include <variant>

#include "model/outcome.hpp"

namespace fatune {
namespace {

std::vector<double> load_samples(Database& database, std::int64_t outcome_id) {
  Statement rows =
      database.query("SELECT us FROM samples WHERE outcome = ? ORDER BY number", outcome_id);
  std::vector<double> us;
  while (rows.step()) {
    us.push_back(rows.real(0));
    check_kernel_time(us.back(), "samples_us");
  }
  return us;
}

}  // namespace

std::string header_text(const nlohmann::json& header, const char* pointer) {
  const nlohmann::json::json_pointer at(pointer);
  return header.contains(at) && header[at].is_string() ? header[at].get<std::string>()
                                                       : std::string();
}

std::string launch_column(LaunchGeometry launch) {
  if (launch.arguments.standard) {
    launch.arguments = {};
  }
  return column_text(launch);
}

std::vector<double> samples_of(const Result& result) {
  const auto* measured = std::get_if<Measured>(&result.outcome);
  return measured == nullptr ? std::vector<double>() : measured->timing.samples_us;
}

std::string result_column(const Result& result) {
  Result rest = result;
  if (auto* measured = std::get_if<Measured>(&rest.outcome)) {
    measured->timing.samples_us.clear();
  }
  return column_text(rest);
}

Result load_result(Database& database, const std::string& text, std::int64_t source) {
  auto result = read_record<Result>(parse_record(text));
  if (auto* measured = std::get_if<Measured>(&result.outcome)) {
    measured->timing.samples_us = load_samples(database, source);
  }
  return result;
}

void save_samples(Database& database, std::int64_t outcome_id, const std::vector<double>& us) {
  Statement insert = database.prepare("INSERT INTO samples (outcome, number, us) VALUES (?, ?, ?)");
  std::int64_t number = 0;
  for (const double sample_us : us) {
    insert.bind(outcome_id, ++number, sample_us).run();
  }
}

}  // namespace fatune

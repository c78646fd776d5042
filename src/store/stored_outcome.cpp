#include "store/stored_outcome.hpp"

#include <utility>

#include <fmt/format.h>

#include "core/error.hpp"
#include "record/record_json.hpp"
#include "store/digest.hpp"

namespace fatune {
namespace {

std::string digest_of(const std::string& text, const std::vector<double>& samples_us) {
  Digest hash;
  hash.update(text);
  for (const double us : samples_us) {
    hash.update(fmt::format(",{}", us));
  }
  return hash.hex();
}

}  // namespace

std::string config_column(const Config& config) { return record_text(record_json(config)); }

std::string launch_column(const LaunchGeometry& launch) {
  nlohmann::json json = record_json(launch);
  const nlohmann::json usual = record_json(LaunchGeometry{});
  for (const char* member : {"cluster", "attributes"}) {
    if (json.at(member) == usual.at(member)) {
      json.erase(member);
    }
  }
  if (launch.arguments.standard) {
    json.erase("arguments");
  }
  return record_text(json);
}

std::string parameters_column(const std::vector<NamedValue>& parameters) {
  nlohmann::json list = nlohmann::json::array();
  for (const NamedValue& parameter : parameters) {
    list.push_back({parameter.name, parameter.text});
  }
  return record_text(list);
}

std::vector<NamedValue> read_parameters(const std::string& text) {
  try {
    std::vector<NamedValue> parameters;
    for (const auto& pair : parse_record(text)) {
      parameters.push_back({pair.at(0).get<std::string>(), pair.at(1).get<std::string>()});
    }
    return parameters;
  } catch (const nlohmann::json::exception& error) {
    throw Error(ExitCode::bad_file, fmt::format("parameters cannot be read: {}", error.what()));
  }
}

OutcomeColumns outcome_columns(const Outcome& outcome) {
  Outcome rest = outcome;
  OutcomeColumns columns;
  if (auto* measured = std::get_if<Measured>(&rest)) {
    columns.samples_us = std::exchange(measured->timing.samples_us, {});
  }
  columns.text = record_text(record_json(rest));
  columns.digest = digest_of(columns.text, columns.samples_us);
  return columns;
}

Outcome read_outcome(const OutcomeColumns& columns) {
  if (digest_of(columns.text, columns.samples_us) != columns.digest) {
    throw Error(ExitCode::bad_file, "a stored outcome does not match its digest");
  }
  auto outcome = read_record<Outcome>(parse_record(columns.text));
  if (auto* measured = std::get_if<Measured>(&outcome)) {
    measured->timing.samples_us = columns.samples_us;
  }
  return outcome;
}

std::vector<double> load_samples(Database& database, std::int64_t outcome_id) {
  Statement rows = database.prepare("SELECT us FROM samples WHERE outcome = ? ORDER BY number");
  rows.bind(outcome_id);
  std::vector<double> us;
  while (rows.step()) {
    us.push_back(rows.real(0));
  }
  return us;
}

void save_samples(Database& database, std::int64_t outcome_id, const std::vector<double>& us) {
  Statement insert = database.prepare("INSERT INTO samples (outcome, number, us) VALUES (?, ?, ?)");
  std::int64_t number = 0;
  for (const double sample_us : us) {
    insert.bind(outcome_id, ++number, sample_us).run();
  }
}

}  // namespace fatune

#include "store/stored_entry.hpp"

#include <variant>

namespace fatune {
namespace {

std::vector<double> load_samples(Database& database, std::int64_t outcome_id) {
  Statement rows = database.prepare("SELECT us FROM samples WHERE outcome = ? ORDER BY number");
  rows.bind(outcome_id);
  std::vector<double> us;
  while (rows.step()) {
    us.push_back(rows.real(0));
  }
  return us;
}

}  // namespace

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

std::vector<double> samples_of(const Entry& entry) {
  const auto* measured = std::get_if<Measured>(&entry.outcome);
  return measured == nullptr ? std::vector<double>() : measured->timing.samples_us;
}

std::string entry_column(const Entry& entry) {
  Entry rest = entry;
  if (auto* measured = std::get_if<Measured>(&rest.outcome)) {
    measured->timing.samples_us.clear();
  }
  return column_text(rest);
}

Entry load_entry(Database& database, const std::string& text, std::int64_t source) {
  auto entry = read_record<Entry>(parse_record(text));
  if (auto* measured = std::get_if<Measured>(&entry.outcome)) {
    measured->timing.samples_us = load_samples(database, source);
  }
  return entry;
}

void save_samples(Database& database, std::int64_t outcome_id, const std::vector<double>& us) {
  Statement insert = database.prepare("INSERT INTO samples (outcome, number, us) VALUES (?, ?, ?)");
  std::int64_t number = 0;
  for (const double sample_us : us) {
    insert.bind(outcome_id, ++number, sample_us).run();
  }
}

}  // namespace fatune

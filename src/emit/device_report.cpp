#include "emit/device_report.hpp"

#include "emit/device_fields.hpp"
#include "emit/print_rows.hpp"

namespace fatune {
namespace {

const std::vector<Field<ListedDevice>>& listing_fields() {
  static const std::vector<Field<ListedDevice>> fields{
      {"index", "#", "what --device takes", 0, Shown::everywhere,
       [](const ListedDevice& d) { return FieldValue{std::int64_t{d.index}}; }},
      {"usable", "usable", "whether fatune can measure on it", 0, Shown::everywhere,
       [](const ListedDevice& d) { return FieldValue{d.unusable_because.empty()}; }},
      {"unusable_because", "why not", "why it is not usable; null when it is", 0, Shown::everywhere,
       [](const ListedDevice& d) {
         return d.unusable_because.empty() ? FieldValue{} : FieldValue{d.unusable_because};
       },
       ColumnFit{.least = 20}},
  };
  return fields;
}

Json json_device(const ListedDevice& device) {
  Json json = json_object(listing_fields(), device);
  json.update(json_object(device_fields(), device.limits));
  return json;
}

/// The listing's columns with the limits' columns between its first and its others.
TextTable joined(const TextTable& listing, const TextTable& limits) {
  TextTable table;
  table.columns.push_back(listing.columns.front());
  table.columns.insert(table.columns.end(), limits.columns.begin(), limits.columns.end());
  table.columns.insert(table.columns.end(), listing.columns.begin() + 1, listing.columns.end());
  for (std::size_t i = 0; i < listing.rows.size(); ++i) {
    auto& row = table.rows.emplace_back();
    row.push_back(listing.rows[i].front());
    row.insert(row.end(), limits.rows[i].begin(), limits.rows[i].end());
    row.insert(row.end(), listing.rows[i].begin() + 1, listing.rows[i].end());
  }
  return table;
}

std::vector<DeviceLimits> limits_of(const DeviceReport& report) {
  std::vector<DeviceLimits> limits;
  limits.reserve(report.devices.size());
  for (const ListedDevice& device : report.devices) {
    limits.push_back(device.limits);
  }
  return limits;
}

std::string print_json(const DeviceReport& report) {
  Json json = {{"format", "fatune.devices"}, {"format_version", 1}, {"driver", report.driver}};
  json["remedy"] = report.remedy.empty() ? Json(nullptr) : Json(report.remedy);
  json["devices"] = Json::array();
  for (const ListedDevice& device : report.devices) {
    json["devices"].push_back(json_device(device));
  }
  return json_text(json);
}

}  // namespace

std::string print_device_report(const DeviceReport& report, const Page& page) {
  const std::vector<DeviceLimits> limits = limits_of(report);
  if (page.format == OutputFormat::json) {
    return print_json(report);
  }
  if (page.format == OutputFormat::csv) {
    return draw_csv(joined(table_for_programs(listing_fields(), report.devices),
                           table_for_programs(device_fields(), limits)));
  }
  std::string text = "driver: " + report.driver + "\n";
  if (!report.remedy.empty()) {
    text += "  " + report.remedy + "\n";
  }
  if (report.devices.empty()) {
    return text + "no GPU is visible\n";
  }
  const TextTable table = joined(table_for_people(listing_fields(), report.devices),
                                 table_for_people(device_fields(), limits));
  return text + "\n" + draw_table(table, page);
}

}  // namespace fatune

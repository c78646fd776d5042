#include "commands/doctor/doctor_report.hpp"

#include <array>
#include <string_view>

#include <fmt/format.h>

#include "base/ranges.hpp"
#include "model/record_json.hpp"
#include "print/run_report.hpp"

namespace fatune {
namespace {

Fields<ListedDevice> listing_fields() {
  return {
      {"index", "#", &ListedDevice::index},
      {"usable", "usable", [](const ListedDevice& d) { return d.unusable_because.empty(); }},
      {"unusable_because", "why not", kWraps, or_none<&ListedDevice::unusable_because>},
  };
}

Json json_device(const ListedDevice& device) {
  Json json = json_object(listing_fields(), device);
  json.update(record_json(device.limits));
  return json;
}

std::vector<DeviceLimits> limits_of(const DeviceReport& report) {
  std::vector<DeviceLimits> limits;
  limits.reserve(report.devices.size());
  for (const ListedDevice& device : report.devices) {
    limits.push_back(device.limits);
  }
  return limits;
}

/// The listing's columns, with the limits' columns inserted after the first.
Table records_of(const DeviceReport& report) {
  Table table = table_of(listing_fields(), report.devices);
  Table limits = table_of(device_fields(), limits_of(report));
  table.columns.insert(table.columns.begin() + 1, limits.columns.begin(), limits.columns.end());
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    table.rows[i].insert(table.rows[i].begin() + 1, limits.rows[i].begin(), limits.rows[i].end());
  }
  return table;
}

Blocks blocks_of(const DeviceReport& report) {
  Blocks blocks{block::Line{"driver: " + report.driver}};
  if (!report.remedy.empty()) {
    blocks.push_back(block::Line{"  " + report.remedy});
  }
  if (report.devices.empty()) {
    blocks.push_back(block::Text{"no GPU is visible\n"});
  } else {
    append(blocks, {block::Text{"\n"}, block::Rows{records_of(report)}});
  }
  return blocks;
}

Json json_devices(const DeviceReport& report) {
  Json json = json_head("devices");
  json["driver"] = report.driver;
  json["remedy"] = report.remedy.empty() ? Json(nullptr) : Json(report.remedy);
  json["devices"] = json_list(report.devices, json_device);
  return json;
}

std::string_view health_name(Health health) {
  static constexpr std::array<std::string_view, 3> kNames{"fine", "limited", "broken"};
  return kNames.at(static_cast<std::size_t>(health));
}

TextColour health_colour(Health health) {
  static constexpr std::array<TextColour, 3> kColours{TextColour::green, TextColour::yellow,
                                                      TextColour::red};
  return kColours.at(static_cast<std::size_t>(health));
}

Fields<Check> check_fields() {
  return {
      {"subject", "what", &Check::subject},
      {"health", "state", [](const Check& c) { return health_name(c.health); }},
      {"finding", "finding", &Check::finding},
      {"remedy", "remedy", or_none<&Check::remedy>},
  };
}

/// Findings are sentences: on a terminal, one paragraph per check reads better than a table of wide
/// columns.
block::Rows rows_of(const std::vector<Check>& checks) {
  block::Rows rows{table_of(check_fields(), checks)};
  for (const Check& check : checks) {
    auto& paragraph = rows.paragraphs.emplace_back();
    paragraph = {fmt::format("{:<8}", health_name(check.health)), health_colour(check.health),
                 fmt::format(" {}: {}\n", check.subject, check.finding)};
    if (!check.remedy.empty()) {
      paragraph.text += fmt::format("         -> {}\n", check.remedy);
    }
  }
  return rows;
}

}  // namespace

Fields<DeviceLimits> device_fields() {
  return {
      {"name", "name", kWraps, &DeviceLimits::name},
      {"uuid", "uuid", kProgramsOnly, &DeviceLimits::uuid},
      {"arch", "arch", [](const DeviceLimits& r) { return arch_name(r.arch); }},
      {"sm_count", "SMs", &DeviceLimits::sm_count},
      {"clock_khz", "clock kHz", kProgramsOnly, &DeviceLimits::clock_khz},
      {"memory_gbps", "GB/s", &DeviceLimits::memory_gbps},
      {"total_memory_bytes", "memory B", &DeviceLimits::total_memory_bytes},
      {"l2_bytes", "L2 B", &DeviceLimits::l2_bytes},
      {"smem_per_block_optin_bytes", "smem/block", &DeviceLimits::smem_per_block_optin_bytes},
      {"smem_per_sm_bytes", "smem/SM", kProgramsOnly, &DeviceLimits::smem_per_sm_bytes},
      {"registers_per_sm", "regs/SM", &DeviceLimits::registers_per_sm},
      {"max_threads_per_sm", "threads/SM", &DeviceLimits::max_threads_per_sm},
      {"max_threads_per_block", "threads/block", kProgramsOnly,
       &DeviceLimits::max_threads_per_block},
      {"max_blocks_per_sm", "blocks/SM", kProgramsOnly, &DeviceLimits::max_blocks_per_sm},
  };
}

Document device_document(const DeviceReport& report) {
  return {[&] { return blocks_of(report); }, [&] { return records_of(report); },
          [&] { return json_devices(report); }};
}

Document doctor_document(const std::vector<Check>& checks) {
  const auto object = [&] {
    Json json = json_head("doctor");
    json["checks"] = json_rows(check_fields(), checks);
    return json;
  };
  return {[&] { return Blocks{rows_of(checks)}; }, [&] { return table_of(check_fields(), checks); },
          object};
}

}  // namespace fatune

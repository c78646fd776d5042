#include "emit/device_report.hpp"

#include "record/record_json.hpp"

namespace fatune {
namespace {

Fields<ListedDevice> listing_fields() {
  return {
      {"index", "#", &ListedDevice::index},
      {"usable", "usable", [](const ListedDevice& d) { return d.unusable_because.empty(); }},
      {"unusable_because", "why not", Look{.least = 20}, or_none<&ListedDevice::unusable_because>},
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

}  // namespace

Fields<DeviceLimits> device_fields() {
  return {
      {"name", "name", Look{.least = 14}, &DeviceLimits::name},
      {"uuid", "uuid", kProgramsOnly, &DeviceLimits::uuid},
      {"arch", "arch", [](const DeviceLimits& r) { return arch_name(r.arch); }},
      {"sm_count", "SMs", &DeviceLimits::sm_count},
      {"clock_khz", "clock kHz", kProgramsOnly, &DeviceLimits::clock_khz},
      {"memory_gbps", "GB/s", Look{.leaves = 5}, &DeviceLimits::memory_gbps},
      {"total_memory_bytes", "memory B", Look{.leaves = 6}, &DeviceLimits::total_memory_bytes},
      {"l2_bytes", "L2 B", Look{.leaves = 4}, &DeviceLimits::l2_bytes},
      {"smem_per_block_optin_bytes", "smem/block", Look{.leaves = 3},
       &DeviceLimits::smem_per_block_optin_bytes},
      {"smem_per_sm_bytes", "smem/SM", kProgramsOnly, &DeviceLimits::smem_per_sm_bytes},
      {"registers_per_sm", "regs/SM", Look{.leaves = 1}, &DeviceLimits::registers_per_sm},
      {"max_threads_per_sm", "threads/SM", Look{.leaves = 2}, &DeviceLimits::max_threads_per_sm},
      {"max_threads_per_block", "threads/block", kProgramsOnly,
       &DeviceLimits::max_threads_per_block},
      {"max_blocks_per_sm", "blocks/SM", kProgramsOnly, &DeviceLimits::max_blocks_per_sm},
  };
}

Document device_document(const DeviceReport& report) {
  return {[&] { return blocks_of(report); }, [&] { return records_of(report); },
          [&] { return json_devices(report); }};
}

}  // namespace fatune

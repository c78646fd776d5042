#include "gpu/devices.hpp"
#include "cli/subcommands.hpp"
#include "emit/device_report.hpp"
#include "gpu/driver.hpp"
#include "gpu/nvml.hpp"

namespace fatune {
namespace {

struct DevicesOptions {
  OutputOptions output;
};

ListedDevice listed(const gpu::Device& device) {
  std::string why = device.unusable_because;
  if (!device.usable() && !device.remedy.empty()) {
    why += " (" + device.remedy + ")";
  }
  return {device.ordinal, device.limits, std::move(why)};
}

DeviceReport make_report() {
  const gpu::DriverStatus& driver = gpu::probe_driver();
  DeviceReport report;
  if (!driver.usable()) {
    report.driver = driver.problem;
    report.remedy = driver.remedy;
    return report;
  }
  const std::string& release = gpu::driver_release();
  report.driver = (release.empty() ? "" : release + ", ") + "CUDA " + driver.version_text();
  for (const gpu::Device& device : gpu::list_devices()) {
    report.devices.push_back(listed(device));
  }
  return report;
}

/// Prints the GPUs of this machine.
ExitCode devices(const DevicesOptions& options) {
  print_document(device_document(make_report()), options.output);
  return ExitCode::ok;
}

}  // namespace

void add_devices_command(const Subcommands& all) {
  const auto [sub, options] = add_subcommand(
      all, "devices", "Show the GPUs, their limits, and why one is unusable", devices);
  add_output_options(sub, options.output);
  sub.footer(R"(Examples:
  fatune devices
  fatune devices --format json)");
}

}  // namespace fatune

#include "app/target.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "app/version.hpp"
#include "compile/compiler.hpp"
#include "core/error.hpp"
#include "data/device_file.hpp"
#include "gpu/devices.hpp"
#include "gpu/driver.hpp"
#include "gpu/nvrtc.hpp"

namespace fatune {
namespace {

constexpr Arch kDefaultArch{90, '\0'};

/// A GPU, or why there is none.
struct Search {
  std::optional<gpu::Device> device;
  std::string problem;
  std::string remedy;
};

Search first_usable() {
  const gpu::DriverStatus& driver = gpu::probe_driver();
  if (!driver.usable()) {
    return {std::nullopt, driver.problem, driver.remedy};
  }
  std::vector<gpu::Device> devices = gpu::list_devices();
  const auto usable = std::find_if(devices.begin(), devices.end(),
                                   [](const gpu::Device& device) { return device.usable(); });
  if (usable != devices.end()) {
    return {*usable, {}, {}};
  }
  return devices.empty()
             ? Search{std::nullopt, "the driver shows no GPU", {}}
             : Search{std::nullopt, devices.front().unusable_because, devices.front().remedy};
}

gpu::Device usable_device(int ordinal) {
  gpu::Device device = gpu::describe_device(ordinal);
  if (!device.usable()) {
    throw Error(ExitCode::no_gpu,
                fmt::format("GPU {} ({}) cannot be used: {}", ordinal, device.limits.name,
                            device.unusable_because),
                {}, device.remedy);
  }
  return device;
}

Search search(const TargetOptions& options) {
  if (options.no_gpu) {
    return {std::nullopt, "no GPU was asked for (--device none)", "leave out --device none"};
  }
  return options.device ? Search{usable_device(*options.device), {}, {}} : first_usable();
}

Target gpu_target(const gpu::Device& device, std::optional<Arch> arch) {
  Target target{device.limits, device.ordinal, {}};
  target.limits.arch = arch.value_or(device.limits.arch);
  check_arch_supported(target.limits.arch);
  if (!runs_on(target.limits.arch, device.limits.arch)) {
    throw Error(ExitCode::usage,
                fmt::format("code for {} does not run on {} ({})", arch_name(target.limits.arch),
                            device.limits.name, arch_name(device.limits.arch)),
                "--arch", "leave it out, or estimate without the GPU: --device none");
  }
  return target;
}

}  // namespace

bool runs_on(Arch code, Arch gpu) {
  if (code.suffix != '\0') {
    return code == gpu;
  }
  return code.sm / 10 == gpu.sm / 10 && code.sm <= gpu.sm;
}

Target offline_target(std::optional<Arch> arch, const FileTree& tree) {
  const Arch wanted = arch.value_or(kDefaultArch);
  check_arch_supported(wanted);
  return {load_device_limits(tree, wanted), std::nullopt, {}};
}

Target choose_target(const TargetOptions& options, const FileTree& tree) {
  const Search found = search(options);
  if (found.device) {
    return gpu_target(*found.device, options.arch);
  }
  if (options.require_gpu) {
    throw Error(ExitCode::no_gpu, "a GPU is required: " + found.problem, {}, found.remedy);
  }
  Target target = offline_target(options.arch, tree);
  target.why_not_measured = found.problem;
  return target;
}

Toolchain toolchain_in_use(const Target& target) {
  return {std::string(version()), gpu::nvrtc_version_text(),
          target.device ? gpu::probe_driver().version_text() : std::string()};
}

}  // namespace fatune

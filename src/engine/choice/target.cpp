#include "engine/choice/kernel_choice.hpp"

#include <algorithm>
#include <limits>
#include <mutex>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "base/error.hpp"
#include "base/version.hpp"
#include "gpu/compiler.hpp"
#include "gpu/driver.hpp"
#include "gpu/nvml.hpp"
#include "gpu/nvrtc.hpp"

namespace fatune {
namespace {

constexpr Arch kDefaultArch{90, 'a'};

/// The GPUs found, or why there are none.
struct Search {
  std::vector<gpu::Device> devices;
  std::string problem;
  std::string remedy;
};

Search search_usable(std::size_t most) {
  const gpu::DriverStatus& driver = gpu::probe_driver();
  if (!driver.usable()) {
    return {{}, driver.problem, driver.remedy};
  }
  Search search{gpu::list_devices(), "the driver shows no GPU", {}};
  if (!search.devices.empty()) {
    search.problem = search.devices.front().unusable_because;
    search.remedy = search.devices.front().remedy;
  }
  std::erase_if(search.devices, [](const gpu::Device& device) { return !device.usable(); });
  search.devices.resize(std::min(search.devices.size(), most));
  return search;
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
    return {{}, "no GPU was requested (--device none)", "leave out --device none"};
  }
  if (options.devices.empty()) {
    return search_usable(options.all_devices ? std::numeric_limits<std::size_t>::max() : 1);
  }
  Search search;
  for (const int ordinal : options.devices) {
    search.devices.push_back(usable_device(ordinal));
  }
  return search;
}

void check_arch(Arch code, const gpu::Device& device) {
  check_arch_supported(code);
  if (!runs_on(code, device.limits.arch)) {
    throw Error(ExitCode::usage,
                fmt::format("code for {} does not run on {} ({})", arch_name(code),
                            device.limits.name, arch_name(device.limits.arch)),
                "--arch", "leave it out, or estimate without the GPU: --device none");
  }
}

bool same_model(const DeviceLimits& a, const DeviceLimits& b) {
  return a.name == b.name && a.sm_count == b.sm_count &&
         a.total_memory_bytes == b.total_memory_bytes;
}

void warn_of_suffix(Arch asked, const Family& family) {
  static std::once_flag warned;
  std::call_once(warned, [&] {
    spdlog::warn("--arch {} means {}, which {} needs", arch_name(asked), arch_name(family.min_arch),
                 family.name);
  });
}

/// Returns the architecture without a GPU that runs most of the families: the default one, or one
/// that a family needs.
Arch default_arch(std::span<const Family> families) {
  std::vector<Arch> choices{kDefaultArch};
  std::ranges::transform(families, std::back_inserter(choices), &Family::min_arch);
  return *std::ranges::max_element(choices, {}, [&](Arch arch) {
    return std::ranges::count_if(
        families, [&](const Family& family) { return provides(arch, family.min_arch); });
  });
}

std::vector<Target> by_model(const std::vector<gpu::Device>& devices, std::optional<Arch> arch) {
  std::vector<Target> targets;
  for (const gpu::Device& device : devices) {
    const Arch code = arch.value_or(device.limits.arch);
    check_arch(code, device);
    auto target = std::ranges::find_if(
        targets, [&](const Target& known) { return same_model(known.limits, device.limits); });
    if (target == targets.end()) {
      target = targets.insert(targets.end(), Target{device.limits, {}, {}, {}});
      target->limits.arch = code;
    }
    target->gpus.push_back({device.ordinal, device.limits.uuid});
  }
  return targets;
}

}  // namespace

bool runs_on(Arch code, Arch gpu) {
  if (code.suffix != '\0') {
    return code == gpu;
  }
  return code.sm / 10 == gpu.sm / 10 && code.sm <= gpu.sm;
}

Arch arch_meant(std::optional<Arch> arch, std::span<const Family> families) {
  if (!arch) {
    return default_arch(families);
  }
  const auto stricter = std::ranges::find_if(families, [&](const Family& family) {
    return arch->suffix == '\0' && family.min_arch.sm == arch->sm && family.min_arch != *arch;
  });
  if (stricter == families.end()) {
    return *arch;
  }
  warn_of_suffix(*arch, *stricter);
  return stricter->min_arch;
}

Target offline_target(std::optional<Arch> arch, const FileTree& tree,
                      std::span<const Family> families) {
  const Arch wanted = arch_meant(arch, families);
  check_arch_supported(wanted);
  return {load_device_limits(tree, wanted), {}, {}, device_product(tree, wanted)};
}

std::vector<Target> choose_targets(const TargetOptions& options, const FileTree& tree,
                                   std::span<const Family> families) {
  const Search found = search(options);
  if (!found.devices.empty()) {
    return by_model(found.devices, options.arch ? std::optional(arch_meant(options.arch, families))
                                                : std::nullopt);
  }
  if (options.require_gpu) {
    throw Error(ExitCode::no_gpu, "a GPU is required: " + found.problem, {}, found.remedy);
  }
  Target target = offline_target(options.arch, tree, families);
  target.why_not_measured = found.problem;
  return {target};
}

Toolchain toolchain_in_use(const Target& target) {
  Toolchain toolchain{std::string(version()), gpu::nvrtc_version_text(), {}, {}};
  if (target.measured()) {
    toolchain.driver_version = gpu::probe_driver().version_text();
    toolchain.driver_release = gpu::driver_release();
  }
  return toolchain;
}

}  // namespace fatune

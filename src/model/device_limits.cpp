#include "model/device_limits.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <map>
#include <regex>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/file_tree.hpp"
#include "base/json_file.hpp"
#include "base/text_parts.hpp"

namespace fatune {

Arch parse_arch(std::string_view text) {
  static const std::regex pattern(R"((?:sm_)?(\d{1,2})\.?(\d)([a]?))");
  std::match_results<std::string_view::const_iterator> match;
  if (!std::regex_match(text.begin(), text.end(), match, pattern)) {
    throw Error(ExitCode::usage, fmt::format("'{}' is not a GPU architecture", text), {},
                "write it as sm_80, sm_86, sm_89, sm_90a, sm_100a, ...");
  }
  const Arch arch{std::stoi(match[1].str()) * 10 + std::stoi(match[2].str()),
                  match[3].length() == 0 ? '\0' : 'a'};
  if (arch.sm < kOldestArch.sm) {
    throw Error(ExitCode::usage, fmt::format("{} is older than sm_80", arch_name(arch)), {},
                "fatune's kernels need compute capability 8.0 or newer");
  }
  if (arch.suffix != '\0' && arch.sm < kFirstSuffixSm) {
    throw Error(
        ExitCode::usage, fmt::format("there is no architecture {}", arch_name(arch)), {},
        fmt::format("write sm_{}; names with an 'a' begin with sm_{}a", arch.sm, kFirstSuffixSm));
  }
  return arch;
}

namespace {

std::string with_number(std::string_view kind, Arch arch) {
  return arch.suffix == '\0' ? fmt::format("{}_{}", kind, arch.sm)
                             : fmt::format("{}_{}{}", kind, arch.sm, arch.suffix);
}

constexpr std::int64_t round_up(std::int64_t value, std::int64_t granule) {
  return (value + granule - 1) / granule * granule;
}

struct ClockLimit {
  std::uint32_t bit;
  std::string_view name;
  bool throttles;
};

// source: nvml.h, nvmlClocksEventReason*
constexpr ClockLimit kClockLimits[] = {{0x001, "gpu_idle", false},
                                       {0x002, "applications_clocks_setting", false},
                                       {0x004, kPowerCapName, false},
                                       {0x008, "hw_slowdown", true},
                                       {0x010, "sync_boost", true},
                                       {0x020, "sw_thermal_slowdown", true},
                                       {0x040, "hw_thermal_slowdown", true},
                                       {0x080, "hw_power_brake_slowdown", true},
                                       {0x100, "display_clock_setting", false}};

constexpr std::string_view kPrefix = "configs/devices/sm_";
constexpr std::string_view kSuffix = ".json";

JsonFile load_device_file(const FileTree& tree, Arch arch) {
  const std::string path = fmt::format("{}{}{}", kPrefix, arch.sm, kSuffix);
  if (!tree.contains(path)) {
    throw Error(ExitCode::usage,
                fmt::format("the limits of {} are not known without such a GPU", arch_name(arch)),
                {},
                fmt::format("known: {} (and their 'a' variants)",
                            joined(known_archs(tree), ", ", arch_name)));
  }
  return load_json(tree, path, "device");
}

void read_limit(const JsonNode& node, int& value) {
  if (!std::in_range<int>(node.integer()) || node.integer() < 0) {
    node.fail(fmt::format("{} is out of range", node.integer()));
  }
  value = static_cast<int>(node.integer());
}
void read_limit(const JsonNode& node, std::int64_t& value) { value = node.integer(); }
void read_limit(const JsonNode& node, double& value) { value = node.number(); }

/// The newest known architecture that is not newer than `arch`. Without one, `arch` itself.
Arch nearest_known(const FileTree& tree, Arch arch) {
  std::vector<Arch> archs = known_archs(tree);
  std::erase_if(archs, [&](Arch known) { return known.sm > arch.sm; });
  return archs.empty() ? arch : archs.back();
}

}  // namespace

std::string arch_name(Arch arch) { return with_number("sm", arch); }

std::string virtual_arch_name(Arch arch) { return with_number("compute", arch); }

int blocks_per_sm(const DeviceLimits& limits, int threads_per_block, int registers_per_thread,
                  std::int64_t smem_bytes) {
  constexpr int kWarp = 32;
  constexpr int kRegisterGranule = 256;
  constexpr int kSubpartitions = 4;
  constexpr int kSmemGranule = 128;
  if (threads_per_block < 1 || threads_per_block > limits.max_threads_per_block ||
      smem_bytes > limits.smem_per_block_optin_bytes) {
    return 0;
  }
  const int warps = (threads_per_block + kWarp - 1) / kWarp;
  const std::int64_t registers_per_warp = round_up(
      static_cast<std::int64_t>(std::max(registers_per_thread, 1)) * kWarp, kRegisterGranule);
  const std::int64_t warps_per_subpartition =
      limits.registers_per_sm / kSubpartitions / registers_per_warp;
  const std::int64_t by_registers = warps_per_subpartition * kSubpartitions / warps;
  const std::int64_t smem_per_block =
      round_up(smem_bytes + limits.smem_reserved_per_block_bytes, kSmemGranule);
  const std::int64_t by_smem = limits.smem_per_sm_bytes / smem_per_block;
  const std::int64_t by_threads = limits.max_threads_per_sm / (warps * kWarp);
  return static_cast<int>(std::min(
      {by_registers, by_smem, by_threads, static_cast<std::int64_t>(limits.max_blocks_per_sm)}));
}

std::string file_name_part(std::string_view device_name) {
  std::string part;
  for (const char c : device_name) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0;
    part += plain ? static_cast<char>(std::tolower(static_cast<unsigned char>(c))) : '-';
  }
  return part;
}

std::optional<DeviceLimits> find_device(const std::vector<DeviceLimits>& devices,
                                        std::string_view wanted, const std::string& where) {
  const std::string part = file_name_part(wanted);
  std::vector<DeviceLimits> found;
  for (const DeviceLimits& device : devices) {
    const std::string name = file_name_part(device.name);
    if (name == part) {
      return device;
    }
    if (name.find(part) != std::string::npos) {
      found.push_back(device);
    }
  }
  if (found.size() > 1) {
    throw Error(ExitCode::usage, fmt::format("'{}' is a part of several names", wanted), where,
                "name one of: " + joined(found, ", ", &DeviceLimits::name));
  }
  return found.empty() ? std::nullopt : std::optional(found.front());
}

std::optional<DeviceLimits> nearest_device(const std::vector<DeviceLimits>& devices,
                                           const DeviceLimits& device) {
  std::optional<DeviceLimits> nearest;
  const auto distance = [&](const DeviceLimits& other) {
    return std::abs(other.sm_count - device.sm_count);
  };
  for (const DeviceLimits& other : devices) {
    if (other.arch.sm == device.arch.sm && (!nearest || distance(other) < distance(*nearest))) {
      nearest = other;
    }
  }
  return nearest;
}

std::optional<double> nominal_tensor_flop_per_clock(Arch arch) {
  static const std::map<int, double> kByArch{{80, 2048.0},  {86, 1024.0},  {87, 2048.0},
                                             {89, 1024.0},  {90, 4096.0},  {100, 8192.0},
                                             {103, 8192.0}, {120, 1024.0}, {121, 1024.0}};
  const auto known = kByArch.find(arch.sm);
  return known == kByArch.end() ? std::nullopt : std::optional(known->second);
}

double peak_tensor_flop_per_clock(Arch arch) {
  constexpr double kGreatest = 8192.0;
  return nominal_tensor_flop_per_clock(arch).value_or(kGreatest);
}

bool is_throttled(const GpuReading& reading) {
  std::uint32_t others = reading.clock_limits;
  for (const ClockLimit& limit : kClockLimits) {
    others &= limit.throttles ? ~0U : ~limit.bit;
  }
  return others != 0;
}

std::vector<std::string> clock_limit_names(std::uint32_t clock_limits) {
  std::vector<std::string> names;
  for (const ClockLimit& limit : kClockLimits) {
    if ((clock_limits & limit.bit) != 0) {
      names.emplace_back(limit.name);
      clock_limits &= ~limit.bit;
    }
  }
  for (std::uint32_t bit = 1; clock_limits != 0; bit <<= 1U) {
    if ((clock_limits & bit) != 0) {
      names.push_back(fmt::format("{:#x}", bit));
      clock_limits &= ~bit;
    }
  }
  return names;
}

std::vector<Arch> known_archs(const FileTree& tree) {
  std::vector<Arch> archs;
  for (const std::string& path : tree.list(kPrefix)) {
    const char* begin = path.data() + kPrefix.size();
    const char* end = path.data() + path.size();
    Arch arch;
    const auto read = std::from_chars(begin, end, arch.sm);
    if (read.ec == std::errc{} && std::string_view(read.ptr, end) == kSuffix) {
      archs.push_back(arch);
    }
  }
  std::ranges::sort(archs);
  return archs;
}

std::string device_product(const FileTree& tree, Arch arch) {
  return load_device_file(tree, arch).root().at("product").text();
}

DeviceLimits load_device_limits(const FileTree& tree, Arch arch) {
  const JsonFile file = load_device_file(tree, arch);
  const JsonNode root = file.root();
  DeviceLimits limits;
  limits.name = arch_name(arch) + " (no GPU)";
  limits.arch = arch;
  visit_members(limits, [&](const MemberInfo& info, auto& member) {
    if constexpr (std::is_arithmetic_v<std::remove_reference_t<decltype(member)>>) {
      if (info.name != "free_memory_bytes") {
        read_limit(root.at(std::string(info.name)), member);
      }
    }
  });
  return limits;
}

SmRates load_sm_rates(const FileTree& tree, Arch arch) {
  const JsonFile file = load_device_file(tree, nearest_known(tree, arch));
  const JsonNode node = file.root().at("rates");
  SmRates rates;
  visit_members(rates, [&](const MemberInfo& info, auto& rate) {
    if (const auto given = node.find(std::string(info.name))) {
      rate = given->number();
    }
  });
  return rates;
}

}  // namespace fatune

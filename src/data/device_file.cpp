#include "data/device_file.hpp"

#include <algorithm>
#include <charconv>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/error.hpp"
#include "data/json_file.hpp"

namespace fatune {
namespace {

constexpr std::string_view kPrefix = "configs/devices/sm_";
constexpr std::string_view kSuffix = ".json";

std::string device_path(Arch arch) { return fmt::format("{}{}{}", kPrefix, arch.sm, kSuffix); }

JsonFile load_device_file(const FileTree& tree, Arch arch) {
  const std::string path = device_path(arch);
  if (!tree.contains(path)) {
    std::vector<std::string> names;
    for (const Arch known : known_archs(tree)) {
      names.push_back(arch_name(known));
    }
    throw Error(ExitCode::usage,
                fmt::format("the limits of {} are not known without such a GPU", arch_name(arch)),
                {}, fmt::format("known: {} (and their 'a' variants)", fmt::join(names, ", ")));
  }
  return load_json(tree, path, "device");
}

int small_integer(const JsonNode& node) {
  const std::int64_t value = node.integer();
  if (value < 0 || value > std::numeric_limits<int>::max()) {
    node.fail(fmt::format("{} is out of range", value));
  }
  return static_cast<int>(value);
}

}  // namespace

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

DeviceLimits load_device_limits(const FileTree& tree, Arch arch) {
  const JsonFile file = load_device_file(tree, arch);
  const JsonNode root = file.root();
  DeviceLimits limits;
  limits.name = arch_name(arch) + " (no GPU)";
  limits.arch = arch;
  limits.sm_count = small_integer(root.at("sm_count"));
  limits.max_threads_per_block = small_integer(root.at("max_threads_per_block"));
  limits.max_threads_per_sm = small_integer(root.at("max_threads_per_sm"));
  limits.max_blocks_per_sm = small_integer(root.at("max_blocks_per_sm"));
  limits.registers_per_sm = small_integer(root.at("registers_per_sm"));
  limits.registers_per_block = small_integer(root.at("registers_per_block"));
  limits.max_registers_per_thread = small_integer(root.at("max_registers_per_thread"));
  limits.smem_per_block_optin_bytes = root.at("smem_per_block_optin_bytes").integer();
  limits.smem_per_sm_bytes = root.at("smem_per_sm_bytes").integer();
  limits.smem_reserved_per_block_bytes = root.at("smem_reserved_per_block_bytes").integer();
  limits.l2_bytes = root.at("l2_bytes").integer();
  limits.total_memory_bytes = root.at("total_memory_bytes").integer();
  limits.clock_khz = small_integer(root.at("clock_khz"));
  limits.memory_gbps = root.at("memory_gbps").number();
  return limits;
}

}  // namespace fatune

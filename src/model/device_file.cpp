#include "model/device_file.hpp"

#include <algorithm>
#include <charconv>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/json_file.hpp"
#include "base/text_parts.hpp"

namespace fatune {
namespace {

constexpr std::string_view kPrefix = "configs/devices/sm_";
constexpr std::string_view kSuffix = ".json";

std::string device_path(Arch arch) { return fmt::format("{}{}{}", kPrefix, arch.sm, kSuffix); }

JsonFile load_device_file(const FileTree& tree, Arch arch) {
  const std::string path = device_path(arch);
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

#include "compile/kernel_parameters.hpp"

#include <algorithm>
#include <cstring>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compile/cubin_elf.hpp"
#include "core/error.hpp"

namespace fatune {
namespace {

// The beginning of an entry of .nv.info: its format, its attribute, and the size of its value in
// bytes. In formats other than kSizedValue the third field is the value itself.
struct EntryHeader {
  std::uint8_t format;
  std::uint8_t attribute;
  std::uint16_t value_bytes;
};
constexpr std::uint8_t kSizedValue = 4;      // EIFMT_SVAL
constexpr std::uint8_t kParameterInfo = 23;  // EIATTR_KPARAM_INFO

struct ParameterInfo {
  std::uint32_t index;
  std::uint16_t ordinal;
  std::uint16_t offset;
  std::uint32_t flags;  // bytes, from bit 18 on

  [[nodiscard]] std::int64_t bytes() const { return flags >> 18U; }
};

template <typename Value>
Value read_value(std::span<const char> from) {
  Value value;
  std::memcpy(&value, from.data(), sizeof value);
  return value;
}

/// The parameters' bytes, by ordinal.
std::map<std::uint16_t, std::int64_t> read_info(std::span<const char> info) {
  std::map<std::uint16_t, std::int64_t> sizes;
  while (info.size() >= sizeof(EntryHeader)) {
    const auto header = read_value<EntryHeader>(info);
    info = info.subspan(sizeof header);
    const std::size_t bytes = header.format == kSizedValue ? header.value_bytes : 0;
    if (bytes > info.size()) {
      break;
    }
    if (header.attribute == kParameterInfo && bytes == sizeof(ParameterInfo)) {
      const auto parameter = read_value<ParameterInfo>(info);
      sizes[parameter.ordinal] = parameter.bytes();
    }
    info = info.subspan(bytes);
  }
  return sizes;
}

std::vector<std::int64_t> sizes_of(const KernelArguments& arguments) {
  std::vector<std::int64_t> sizes;
  for (const KernelArgument& argument : arguments.list) {
    sizes.push_back(argument.bytes);
  }
  return sizes;
}

std::string sizes_text(const std::vector<std::int64_t>& sizes) {
  return sizes.empty() ? "no arguments"
                       : fmt::format("{} of {} bytes", sizes.size(), fmt::join(sizes, ", "));
}

}  // namespace

std::optional<std::vector<std::int64_t>> parameter_sizes(std::span<const char> cubin,
                                                         const std::string& lowered_name) {
  try {
    for (const ElfSection& section : read_elf_sections(cubin)) {
      if (section.name != ".nv.info." + lowered_name) {
        continue;
      }
      std::vector<std::int64_t> sizes;
      for (const auto& [ordinal, bytes] : read_info(section.contents)) {
        sizes.push_back(bytes);
      }
      return sizes;
    }
  } catch (const Error&) {
    return std::nullopt;
  }
  return std::nullopt;
}

std::optional<std::string> argument_mismatch(const Artifact& artifact,
                                             const KernelArguments& arguments) {
  const auto taken = parameter_sizes(artifact.cubin, artifact.lowered_name);
  const std::vector<std::int64_t> passed = sizes_of(arguments);
  if (!taken || *taken == passed) {
    return std::nullopt;
  }
  const auto at = std::mismatch(passed.begin(), passed.end(), taken->begin(), taken->end()).first;
  const auto index = static_cast<std::size_t>(at - passed.begin());
  const std::string pointer =
      index < arguments.list.size() ? arguments.list[index].pointer : "/arguments";
  return fmt::format("family.json: {}: the kernel takes {}, but is passed {}", pointer,
                     sizes_text(*taken), sizes_text(passed));
}

}  // namespace fatune

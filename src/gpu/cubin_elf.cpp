#include "gpu/cubin_elf.hpp"

#include <libelf.h>
#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.hpp"
#include "base/ranges.hpp"
#include "base/sha256.hpp"

namespace fatune {
namespace {

constexpr std::string_view kCodePrefix = ".text.";

[[noreturn]] void malformed(const char* what = elf_errmsg(-1)) {
  throw Error(ExitCode::internal, std::string("a cubin that is not a valid ELF file: ") + what);
}

ElfSection read_section(Elf* elf, std::size_t index, std::size_t names) {
  Elf_Scn* section = elf_getscn(elf, index);
  const Elf64_Shdr* header = elf64_getshdr(section);
  const char* name = header == nullptr ? nullptr : elf_strptr(elf, names, header->sh_name);
  const Elf_Data* data = elf_rawdata(section, nullptr);
  if (name == nullptr || data == nullptr) {
    malformed();
  }
  const auto* bytes = static_cast<const char*>(data->d_buf);
  return {name, static_cast<std::int64_t>(header->sh_size), {bytes, bytes ? data->d_size : 0}};
}

bool is_executed(const ElfSection& section) {
  constexpr std::array<std::string_view, 6> kPrefixes{".text.",    ".nv.constant", ".nv.shared",
                                                      ".nv.local", ".nv.global",   ".nv.info"};
  const auto begins = [&](std::string_view prefix) {
    return section.name.starts_with(prefix) ||
           section.name.starts_with(".rela" + std::string(prefix));
  };
  return std::ranges::any_of(kPrefixes, begins);
}

std::string without(std::string name, const std::string& part) {
  const std::size_t at = part.empty() ? std::string::npos : name.find(part);
  return at == std::string::npos ? name : name.erase(at, part.size());
}

std::string hash_sections(const std::vector<ElfSection>& sections, const std::string& kernel) {
  Sha256 hash;
  for (const ElfSection& section : sections) {
    if (is_executed(section)) {
      hash.update(fmt::format("{}\n{}\n", without(section.name, kernel), section.bytes));
      hash.update(std::string_view(section.contents.data(), section.contents.size()));
    }
  }
  return hash.finish_hex();
}

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

std::string sizes_text(const std::vector<std::int64_t>& sizes) {
  return sizes.empty() ? "no arguments"
                       : fmt::format("{} of {} bytes", sizes.size(), fmt::join(sizes, ", "));
}

}  // namespace

std::vector<ElfSection> read_elf_sections(std::span<const char> file) {
  [[maybe_unused]] static const unsigned version = elf_version(EV_CURRENT);
  // libelf takes memory that it may write, and writes only on elf_update().
  const std::unique_ptr<Elf, decltype(&elf_end)> elf(
      elf_memory(const_cast<char*>(file.data()), file.size()), elf_end);
  std::size_t count = 0;
  std::size_t names = 0;
  if (elf64_getehdr(elf.get()) == nullptr || elf_getshdrnum(elf.get(), &count) != 0 ||
      elf_getshdrstrndx(elf.get(), &names) != 0) {
    malformed();
  }
  if (count == 0) {  // libelf counts none in a table that lies outside the file
    malformed("it has no sections");
  }
  return mapped(std::views::iota(std::size_t{0}, count),
                [&](std::size_t index) { return read_section(elf.get(), index, names); });
}

std::vector<std::string> code_names(const std::vector<ElfSection>& sections) {
  const auto code =
      filtered(sections, [](const ElfSection& one) { return one.name.starts_with(kCodePrefix); });
  return mapped(code, [](const ElfSection& one) { return one.name.substr(kCodePrefix.size()); });
}

std::int64_t section_bytes(const std::vector<ElfSection>& sections, std::string_view name) {
  const ElfSection* const found = find_in(sections, name, &ElfSection::name);
  return found == nullptr ? 0 : found->bytes;
}

std::string machine_code_hash(const Artifact& artifact) {
  try {
    return hash_sections(read_elf_sections(artifact.cubin), artifact.lowered_name);
  } catch (const Error&) {
    return sha256_hex(artifact.key + std::string(artifact.cubin.begin(), artifact.cubin.end()));
  }
}

std::optional<std::vector<std::int64_t>> parameter_sizes(std::span<const char> cubin,
                                                         const std::string& lowered_name) {
  try {
    const std::vector<ElfSection> sections = read_elf_sections(cubin);
    if (const auto* info = find_in(sections, ".nv.info." + lowered_name, &ElfSection::name)) {
      return mapped(read_info(info->contents), [](const auto& size) { return size.second; });
    }
  } catch (const Error&) {
    return std::nullopt;
  }
  return std::nullopt;
}

std::optional<std::string> argument_mismatch(const Artifact& artifact,
                                             const KernelArguments& arguments) {
  const auto taken = parameter_sizes(artifact.cubin, artifact.lowered_name);
  const std::vector<std::int64_t> passed = mapped(arguments.list, &KernelArgument::bytes);
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

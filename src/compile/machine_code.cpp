#include "compile/machine_code.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "compile/cubin_elf.hpp"
#include "core/error.hpp"
#include "core/sha256.hpp"

namespace fatune {
namespace {

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

}  // namespace

std::string machine_code_hash(const Artifact& artifact) {
  try {
    return hash_sections(read_elf_sections(artifact.cubin), artifact.lowered_name);
  } catch (const Error&) {
    return sha256_hex(artifact.key + std::string(artifact.cubin.begin(), artifact.cubin.end()));
  }
}

}  // namespace fatune

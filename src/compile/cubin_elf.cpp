#include "compile/cubin_elf.hpp"

#include <elf.h>

#include <algorithm>
#include <cstring>

#include "core/error.hpp"

namespace fatune {
namespace {

constexpr std::string_view kCodePrefix = ".text.";

[[noreturn]] void malformed(const char* what) {
  throw Error(ExitCode::internal, std::string("a cubin that is not a valid ELF file: ") + what);
}

template <typename T>
T read_at(std::span<const char> elf, std::uint64_t offset) {
  if (offset > elf.size() || elf.size() - offset < sizeof(T)) {
    malformed("it ends too early");
  }
  T value;
  std::memcpy(&value, elf.data() + offset, sizeof value);
  return value;
}

Elf64_Ehdr read_header(std::span<const char> elf) {
  const auto header = read_at<Elf64_Ehdr>(elf, 0);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_ident[EI_DATA] != ELFDATA2LSB) {
    malformed("its first bytes are not those of a 64-bit file");
  }
  if (header.e_shentsize != sizeof(Elf64_Shdr) || header.e_shstrndx >= header.e_shnum) {
    malformed("its section table has an unexpected form");
  }
  return header;
}

Elf64_Shdr section_header(std::span<const char> elf, const Elf64_Ehdr& header, unsigned index) {
  const std::uint64_t offset = std::uint64_t{index} * sizeof(Elf64_Shdr);
  if (header.e_shoff > elf.size()) {
    malformed("its section table lies outside the file");
  }
  return read_at<Elf64_Shdr>(elf, header.e_shoff + offset);
}

std::string text_at(std::span<const char> table, std::uint64_t offset) {
  if (offset >= table.size()) {
    malformed("a section's name lies outside the table of names");
  }
  const auto text = table.subspan(offset);
  return {text.begin(), std::ranges::find(text, '\0')};
}

std::span<const char> contents(std::span<const char> elf, const Elf64_Shdr& section) {
  if (section.sh_offset > elf.size() || elf.size() - section.sh_offset < section.sh_size) {
    malformed("a section lies outside the file");
  }
  return elf.subspan(section.sh_offset, section.sh_size);
}

}  // namespace

std::vector<ElfSection> read_elf_sections(std::span<const char> elf) {
  const Elf64_Ehdr header = read_header(elf);
  const auto names = contents(elf, section_header(elf, header, header.e_shstrndx));
  std::vector<ElfSection> sections;
  for (unsigned index = 0; index < header.e_shnum; ++index) {
    const Elf64_Shdr section = section_header(elf, header, index);
    const bool in_file = section.sh_type != SHT_NOBITS && section.sh_type != SHT_NULL;
    sections.push_back({text_at(names, section.sh_name), static_cast<std::int64_t>(section.sh_size),
                        in_file ? contents(elf, section) : std::span<const char>()});
  }
  return sections;
}

std::vector<std::string> code_names(const std::vector<ElfSection>& sections) {
  std::vector<std::string> names;
  for (const ElfSection& section : sections) {
    if (section.name.starts_with(kCodePrefix)) {
      names.push_back(section.name.substr(kCodePrefix.size()));
    }
  }
  return names;
}

std::int64_t section_bytes(const std::vector<ElfSection>& sections, std::string_view name) {
  const auto found = std::ranges::find(sections, name, &ElfSection::name);
  return found == sections.end() ? 0 : found->bytes;
}

}  // namespace fatune

#include "compile/cubin_elf.hpp"

#include <libelf.h>

#include <algorithm>
#include <memory>

#include "core/error.hpp"

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
  std::vector<ElfSection> sections;
  for (std::size_t index = 0; index < count; ++index) {
    sections.push_back(read_section(elf.get(), index, names));
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

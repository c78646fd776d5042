#include "base/version.hpp"

#include <link.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include <fmt/format.h>

namespace fatune {
namespace {

constexpr std::size_t aligned(std::size_t bytes) {
  constexpr std::size_t kAlignment = 4;
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

/// Returns the build ID among the notes of an ELF segment; empty if there is none.
std::string find_build_id(std::string_view notes) {
  while (notes.size() >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) header{};
    std::memcpy(&header, notes.data(), sizeof header);
    const std::size_t id_at = sizeof header + aligned(header.n_namesz);
    const std::size_t end = id_at + aligned(header.n_descsz);
    if (end > notes.size()) {
      break;
    }
    if (header.n_type == NT_GNU_BUILD_ID) {
      std::string digits;
      for (const char byte : notes.substr(id_at, header.n_descsz)) {
        digits += fmt::format("{:02x}", static_cast<std::uint8_t>(byte));
      }
      return digits;
    }
    notes.remove_prefix(end);
  }
  return {};
}

/// Looks through the first object that is listed, which is the program.
int visit_program(dl_phdr_info* program, std::size_t, void* found) {
  for (int i = 0; i < program->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = program->dlpi_phdr[i];
    if (segment.p_type == PT_NOTE) {
      const auto* const notes =
          reinterpret_cast<const char*>(program->dlpi_addr + segment.p_vaddr);  // NOLINT
      std::string id = find_build_id({notes, segment.p_memsz});
      if (!id.empty()) {
        *static_cast<std::string*>(found) = std::move(id);
      }
    }
  }
  return 1;
}

}  // namespace

std::string_view version() { return FATUNE_VERSION; }
std::string_view version_date() { return FATUNE_VERSION_DATE; }

std::string build_identity() {
  std::string id;
  dl_iterate_phdr(visit_program, &id);
  return id;
}

}  // namespace fatune

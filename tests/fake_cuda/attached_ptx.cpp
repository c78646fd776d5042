#include "fake_cuda/attached_ptx.hpp"

#include <elf.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace fake_cuda {
namespace {

constexpr std::size_t kMarkOffset = EI_NIDENT - 4;  // padding of the ELF header
constexpr std::string_view kMark = "ptx\n";

Elf64_Ehdr header_of(const unsigned char* image) {
  Elf64_Ehdr header;
  std::memcpy(&header, image, sizeof header);
  return header;
}

}  // namespace

// Names and contents precede the table of sections. Segments may follow it.
std::size_t elf_bytes(const unsigned char* image) {
  const Elf64_Ehdr header = header_of(image);
  const std::size_t sections = header.e_shoff + std::size_t{header.e_shentsize} * header.e_shnum;
  const std::size_t segments = header.e_phoff + std::size_t{header.e_phentsize} * header.e_phnum;
  return std::max(sections, segments);
}

std::size_t attached_bytes(std::string_view ptx) { return sizeof(std::uint64_t) + ptx.size(); }

std::string attach_ptx(unsigned char* image, std::string_view ptx) {
  std::memcpy(image + kMarkOffset, kMark.data(), kMark.size());
  const std::uint64_t length = ptx.size();
  std::string behind(sizeof length, '\0');
  std::memcpy(behind.data(), &length, sizeof length);
  return behind.append(ptx);
}

std::string attached_ptx(const unsigned char* image) {
  if (std::memcmp(image + kMarkOffset, kMark.data(), kMark.size()) != 0) {
    return {};
  }
  const unsigned char* const behind = image + elf_bytes(image);
  std::uint64_t length = 0;
  std::memcpy(&length, behind, sizeof length);
  return {reinterpret_cast<const char*>(behind) + sizeof length, length};
}

}  // namespace fake_cuda

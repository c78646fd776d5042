#pragma once

#include <cstddef>
#include <string>
#include <string_view>

// How a kernel's PTX comes to the fake driver: behind its machine code, where nobody else looks.
// fake_nvrtc puts it there, fake_cuda reads it.
namespace fake_cuda {

/// Bytes of an ELF image, up to the end of its tables.
[[nodiscard]] std::size_t elf_bytes(const unsigned char* image);

/// Marks the image's header and gives what belongs behind its last byte.
[[nodiscard]] std::string attach_ptx(unsigned char* image, std::string_view ptx);
/// So many bytes attach_ptx() gives.
[[nodiscard]] std::size_t attached_bytes(std::string_view ptx);

/// Empty: nothing is attached.
[[nodiscard]] std::string attached_ptx(const unsigned char* image);

}  // namespace fake_cuda

#pragma once

#include <cstddef>
#include <string>
#include <string_view>

// Passes a kernel's PTX to the fake driver behind its machine code, where nothing else looks.
// fake_nvrtc writes it there, and fake_cuda reads it.
namespace fake_cuda {

/// The size of an ELF image, up to the end of its tables.
[[nodiscard]] std::size_t elf_bytes(const unsigned char* image);

/// Marks the image's header. Returns the bytes that must follow the image.
[[nodiscard]] std::string attach_ptx(unsigned char* image, std::string_view ptx);
/// The number of bytes that attach_ptx() returns.
[[nodiscard]] std::size_t attached_bytes(std::string_view ptx);

/// Returns an empty text if nothing is attached.
[[nodiscard]] std::string attached_ptx(const unsigned char* image);

}  // namespace fake_cuda

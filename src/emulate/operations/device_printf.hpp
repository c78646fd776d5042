#pragma once

#include <cstdint>
#include <string>

#include "emulate/execution.hpp"

// The text that a kernel prints: CUDA C++ Programming Guide, "Formatted Output".
namespace fatune::emulate {

/// Memory as one lane reads it, by generic addresses. A wrong access is a finding, and reads 0.
class DeviceMemory {
 public:
  explicit DeviceMemory(const Actor& by) : by_(by) {}

  /// A value of 1 to 8 bytes.
  [[nodiscard]] std::uint64_t value(std::uint64_t address, std::uint32_t bytes) const;
  /// Up to the first 0, and at most 4096 characters.
  [[nodiscard]] std::string text(std::uint64_t address) const;

 private:
  Actor by_;
};

struct FormattedText {
  std::string text;
  std::int32_t arguments = 0;  ///< how many the format has
};

/// A format and the arguments that the compiler has put one after another, each at a multiple of
/// its size: 4 bytes, or 8 of long integers, pointers and floating-point numbers.
[[nodiscard]] FormattedText format_text(const DeviceMemory& memory, std::uint64_t format,
                                        std::uint64_t arguments);

/// Appends to what the launch has printed; beyond a megabyte, as on a GPU, text is lost.
void print_on_host(LaunchResult& result, const std::string& text);

}  // namespace fatune::emulate

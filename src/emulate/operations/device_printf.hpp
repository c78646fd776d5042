#pragma once

#include <cstdint>
#include <string>

#include "emulate/execution.hpp"

// The text that a kernel prints: CUDA C++ Programming Guide, "Formatted Output".
namespace fatune::emulate {

/// Memory as one lane reads it through generic addresses. An invalid access is a finding and reads
/// 0.
class DeviceMemory {
 public:
  explicit DeviceMemory(const Actor& by) : by_(by) {}

  /// A value of 1 to 8 bytes.
  [[nodiscard]] std::uint64_t value(std::uint64_t address, std::uint32_t bytes) const;
  /// The text up to the first 0, but at most 4096 characters.
  [[nodiscard]] std::string text(std::uint64_t address) const;
  /// True if a limit has ended the launch.
  [[nodiscard]] bool is_exhausted() const { return by_.x.trapped; }

 private:
  Actor by_;
};

struct FormattedText {
  std::string text;
  std::int32_t arguments = 0;  ///< number of arguments that the format takes
};

/// Formats text. The compiler has put the arguments one after another, each at a multiple of its
/// size: 8 bytes for long integers, pointers and floating-point numbers, else 4.
[[nodiscard]] FormattedText format_text(const DeviceMemory& memory, std::uint64_t format,
                                        std::uint64_t arguments);

/// Appends to the launch's output, which LaunchSetup::limits bounds.
void print_on_host(Execution& x, const std::string& text);

}  // namespace fatune::emulate

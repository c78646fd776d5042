#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>

namespace fatune {

/// Reads lines from a file descriptor, without blocking longer than a given time.
class LineInput {
 public:
  /// Longer lines are an error, because the writer does not send lines.
  static constexpr std::size_t kLongestLine = std::size_t{1} << 20;

  explicit LineInput(int descriptor) : descriptor_(descriptor) {}

  /// Returns the next complete line, without its line end. Nothing: none is complete in time, or
  /// the input has ended. Throws Error(io) if the input cannot be read, and Error(usage) for a line
  /// longer than kLongestLine.
  [[nodiscard]] std::optional<std::string> next(std::chrono::milliseconds within);
  /// Whether the last line was returned.
  [[nodiscard]] bool ended() const noexcept { return at_end_ && text_.empty(); }

 private:
  [[nodiscard]] std::optional<std::string> take_line();
  void read_some();

  int descriptor_;
  std::string text_;  ///< read, but not returned yet
  bool at_end_ = false;
};

}  // namespace fatune

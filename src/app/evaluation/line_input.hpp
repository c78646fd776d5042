#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>

namespace fatune {

/// Lines from a file descriptor, without ever blocking longer than it is told to.
class LineInput {
 public:
  /// Longer lines are an error: whoever writes them sends no lines.
  static constexpr std::size_t kLongestLine = std::size_t{1} << 20;

  explicit LineInput(int descriptor) : descriptor_(descriptor) {}

  /// The next line without its end, once it is complete; nothing when none is within the time, or
  /// at the end. Error(io) when it cannot be read, Error(usage) for a line beyond kLongestLine.
  [[nodiscard]] std::optional<std::string> next(std::chrono::milliseconds within);
  /// Whether the last line was handed out.
  [[nodiscard]] bool ended() const noexcept { return at_end_ && text_.empty(); }

 private:
  [[nodiscard]] std::optional<std::string> take_line();
  void read_some();

  int descriptor_;
  std::string text_;  ///< that was read and not handed out
  bool at_end_ = false;
};

}  // namespace fatune

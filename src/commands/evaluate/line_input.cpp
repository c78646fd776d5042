#include "commands/evaluate/line_input.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "core/error.hpp"

namespace fatune {
namespace {

bool is_readable(int descriptor, std::chrono::milliseconds within) {
  pollfd file{descriptor, POLLIN, 0};
  return ::poll(&file, 1, static_cast<int>(within.count())) > 0;
}

}  // namespace

std::optional<std::string> LineInput::next(std::chrono::milliseconds within) {
  if (auto line = take_line()) {
    return line;
  }
  if (!at_end_ && is_readable(descriptor_, within)) {
    read_some();
  }
  return take_line();
}

/// At the end of the input, text without a line end counts as a line.
std::optional<std::string> LineInput::take_line() {
  const std::size_t end = text_.find('\n');
  if (end == std::string::npos) {
    return at_end_ && !text_.empty() ? std::optional(std::exchange(text_, {})) : std::nullopt;
  }
  std::string line = text_.substr(0, end);
  text_.erase(0, end + 1);
  return line;
}

void LineInput::read_some() {
  std::array<char, 65536> chunk{};
  const ssize_t count = ::read(descriptor_, chunk.data(), chunk.size());
  if (count < 0 && errno != EINTR && errno != EAGAIN) {
    throw Error(ExitCode::io, fmt::format("proposals cannot be read: {}",
                                          std::generic_category().message(errno)));
  }
  at_end_ = count == 0;
  text_.append(chunk.data(), static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
  if (text_.size() > kLongestLine && text_.find('\n') == std::string::npos) {
    throw Error(ExitCode::usage, fmt::format("a line is longer than {} bytes", kLongestLine), {},
                "proposals are lines of JSON (docs/evaluate.md)");
  }
}

}  // namespace fatune

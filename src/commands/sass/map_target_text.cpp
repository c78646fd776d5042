#include "commands/sass/map_target_text.hpp"

#include <limits>

#include <fmt/format.h>

#include "cli/numbers.hpp"
#include "core/error.hpp"
#include "core/text_parts.hpp"

namespace fatune {
namespace {

constexpr std::int64_t kLastLine = std::numeric_limits<std::int64_t>::max();

}  // namespace

MapTarget read_source_target(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos || colon == 0) {
    throw Error(ExitCode::usage, fmt::format("'{}' is not a line of a file", text), "--source",
                "write FILE:LINE, e.g. softmax.cuh:40");
  }
  return SourceLine{text.substr(0, colon),
                    parse_integer(text.substr(colon + 1), "--source", 1, kLastLine)};
}

MapTarget read_ptx_target(const std::string& text) {
  return PtxLine{parse_integer(text, "--ptx", 1, kLastLine)};
}

MapTarget read_sass_target(const std::string& text) {
  constexpr std::string_view kPrefix = "0x";
  std::string_view digits = text;
  digits.remove_prefix(digits.starts_with(kPrefix) ? kPrefix.size() : 0);
  const auto address = whole_number<std::uint64_t>(digits, 16);
  if (!address) {
    throw Error(ExitCode::usage, fmt::format("'{}' is not an address", text), "--sass",
                "write it in hexadecimal as 'fatune sass map --source' prints it, e.g. 0x22d0");
  }
  return SassAddress{*address};
}

}  // namespace fatune

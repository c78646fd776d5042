#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "base/text_parts.hpp"

namespace fatune {

/// A line of source code, counted from 1.
struct SourceLine {
  std::string file;
  std::int64_t line = 0;

  auto operator<=>(const SourceLine&) const = default;
};

/// The line where code was written, then, for inlined code, the lines where it was inlined,
/// outwards. Empty: unknown.
using SourceChain = std::vector<SourceLine>;

/// "softmax.cuh:40 < flash_forward.cu:123"
[[nodiscard]] inline std::string chain_text(const SourceChain& chain) {
  return joined(chain, " < ",
                [](const SourceLine& line) { return fmt::format("{}:{}", line.file, line.line); });
}
/// The text of the chain; "PTX line 12" where the source is not known.
[[nodiscard]] inline std::string place_text(const SourceChain& chain, std::int64_t ptx_line) {
  return chain.empty() ? fmt::format("PTX line {}", ptx_line) : chain_text(chain);
}

struct PtxLine {
  std::int64_t line = 0;
};
struct SassAddress {
  std::uint64_t address = 0;  ///< from the beginning of the section, in bytes
};

/// One line of a kernel in one of its three languages. A source line's file may be the end of a
/// path: "softmax.cuh".
using MapTarget = std::variant<SourceLine, PtxLine, SassAddress>;

/// The lines of files, by the name that #include gives them ("flash_sm80/softmax.cuh").
using SourceLines = std::map<std::string, std::vector<std::string>>;

}  // namespace fatune

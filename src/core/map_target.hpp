#pragma once

#include <cstdint>
#include <variant>

#include "core/source_line.hpp"

namespace fatune {

struct PtxLine {
  std::int64_t line = 0;
};
struct SassAddress {
  std::uint64_t address = 0;  ///< from the beginning of the section, in bytes
};

/// One line of a kernel in one of its three languages. A source line's file may be the end of a
/// path: "softmax.cuh".
using MapTarget = std::variant<SourceLine, PtxLine, SassAddress>;

}  // namespace fatune

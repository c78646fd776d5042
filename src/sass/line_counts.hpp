#pragma once

#include <array>
#include <vector>

#include "core/source_line.hpp"
#include "sass/profile.hpp"

namespace fatune {

/// The instructions that one line of the source became.
struct LineCount {
  SourceLine at;
  SassCount own;           ///< instructions that were written there
  SassCount with_inlined;  ///< and those of functions that were inlined there
  std::array<SassCount, kOpcodeClasses> classes;  ///< of `own`
};

struct LineCounts {
  /// The most instructions of the main loop first (own ones, then inlined ones), then of the
  /// function.
  std::vector<LineCount> lines;
  SassCount all;
  SassCount without_line;  ///< of these, the compiler says not where they come from
};

/// By source line, as far as the listing has line information. An instruction counts once for its
/// own line, and once for each other line that it was inlined at.
[[nodiscard]] LineCounts count_lines(const Listing& listing, const SassFunction& function);

}  // namespace fatune

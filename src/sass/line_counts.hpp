#pragma once

#include <array>
#include <vector>

#include "core/source_line.hpp"
#include "sass/profile.hpp"

namespace fatune {

/// The instructions that the compiler made from one source line.
struct LineCount {
  SourceLine at;
  SassCount own;           ///< instructions that were written there
  SassCount with_inlined;  ///< these, and those of functions that were inlined there
  std::array<SassCount, kOpcodeClasses> classes;  ///< divides `own` into classes
};

struct LineCounts {
  /// The lines with the most instructions in the main loop come first (own ones, then inlined
  /// ones), then those with the most in the function.
  std::vector<LineCount> lines;
  SassCount all;
  SassCount without_line;  ///< the part whose source line the compiler does not give
};

/// Counts instructions by source line, as far as the listing has line information. An instruction
/// counts once for its own line, and once for each other line that it was inlined at.
[[nodiscard]] LineCounts count_lines(const Listing& listing, const SassFunction& function);

}  // namespace fatune

#pragma once

#include <cstddef>
#include <vector>

#include "core/map_target.hpp"
#include "ptx/module.hpp"
#include "ptx/slice.hpp"
#include "sass/listing.hpp"

namespace fatune {

/// One kernel, as the compiler read it, in between, and as it wrote it. The places of `listing`
/// and `ptx` call files by the same names.
struct MappedKernel {
  const Listing& listing;
  const SassFunction& sass;
  const PtxModule& ptx_module;
  const PtxFunction& ptx;
};

/// The code that belongs to a line, in all three languages.
struct LineMap {
  SourceChain source;             ///< the line; for PTX and SASS where it was inlined at, too
  std::vector<SliceStep> ptx;     ///< statements of the line (depth 0), and what feeds them
  std::vector<std::size_t> sass;  ///< indices of the function's instructions
};

/// A source line has the PTX and the instructions that were written there or inlined there; a PTX
/// line those that were made from it; an instruction the one PTX line that the compiler names for
/// it. `depth` as in feeding_statements. Error(usage), with what there is, when the target has no
/// code, or its file is ambiguous.
[[nodiscard]] LineMap map_line(const MappedKernel& kernel, const MapTarget& target, int depth);

}  // namespace fatune

#pragma once

#include <cstddef>
#include <vector>

#include "base/source_line.hpp"
#include "emulator/ptx/data_flow.hpp"
#include "emulator/ptx/parse_ptx.hpp"
#include "inspect/sass/listing.hpp"

namespace fatune {

/// One kernel as PTX and SASS, with their places in the source. The places of `listing` and
/// `ptx_module` use the same names for files.
struct MappedKernel {
  const Listing& listing;
  const SassFunction& sass;
  const PtxModule& ptx_module;
  const PtxFunction& ptx;
};

/// The code that belongs to a line, in all three languages.
struct LineMap {
  SourceChain source;             ///< the line; for PTX and SASS also where it was inlined
  std::vector<SliceStep> ptx;     ///< statements of the line (depth 0), and those that feed them
  std::vector<std::size_t> sass;  ///< indices of the function's instructions
};

/// Maps a source line to the PTX and the instructions that were written or inlined there, a PTX
/// line to the instructions that were made from it, and an instruction to the one PTX line that the
/// compiler names for it. `depth` is as in feeding_statements. Throws Error(usage), which lists
/// what there is, if the target has no code or its file is ambiguous.
[[nodiscard]] LineMap map_line(const MappedKernel& kernel, const MapTarget& target, int depth);

}  // namespace fatune

#pragma once

#include <cstddef>
#include <vector>

#include "ptx/module.hpp"

namespace fatune {

/// A statement that reads a register which holds nothing.
struct UndefinedRead {
  std::size_t statement = 0;  ///< index into the function's
  std::size_t reg = 0;        ///< index into its registers
};

/// Reads of registers that no statement on any path before has written: whenever such a statement
/// is executed, it uses whatever the register happens to hold. A path that writes is enough for
/// silence, whether it is taken or not, so what is listed is never a false alarm.
///
/// Statements that only pass a value on (mov, selp) are not listed; their result is undefined too,
/// if all values that they may pass on are. The accumulators of wgmma.mma_async, which ignores them
/// on request, are not listed either.
[[nodiscard]] std::vector<UndefinedRead> find_undefined_reads(const PtxFunction& function);

}  // namespace fatune

#pragma once

#include <cstddef>
#include <vector>

#include "ptx/module.hpp"

namespace fatune {

/// A statement that reads a register without a defined value.
struct UndefinedRead {
  std::size_t statement = 0;  ///< index into the function's statements
  std::size_t reg = 0;        ///< index into its registers
};

/// Finds reads of registers that no statement on any path before has written. Such a statement,
/// whenever it is executed, uses whatever the register happens to hold. One path that writes is
/// enough to suppress a finding, whether it is taken or not, so there are no false alarms.
///
/// Statements that only pass a value on (mov, selp) are not listed. Their result is undefined if
/// all values that they may pass on are. The accumulators of wgmma.mma_async are not listed either,
/// because the instruction ignores them on request.
[[nodiscard]] std::vector<UndefinedRead> find_undefined_reads(const PtxFunction& function);

}  // namespace fatune

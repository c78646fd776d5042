#pragma once

#include <cstddef>
#include <vector>

#include "emulator/ptx/parse_ptx.hpp"

namespace fatune {

/// A statement, and its distance in steps from the selected statements (0).
struct SliceStep {
  std::size_t statement = 0;  ///< index into the function's statements
  int depth = 0;
};

/// The selected statements and those that feed them through registers, at most `depth` steps away
/// (0: any number), in the order of lines. A write feeds a read if a path leads from the write to
/// the read without another write that always happens. Whether the path can be taken is not known.
/// Memory and the conditions of branches are not followed.
[[nodiscard]] std::vector<SliceStep> feeding_statements(const PtxFunction& function,
                                                        const std::vector<std::size_t>& selected,
                                                        int depth);

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

#pragma once

#include <span>

#include "emulate/launch.hpp"
#include "emulate/program.hpp"
#include "ptx/module.hpp"
#include "ptx/source_names.hpp"
#include "report/emulation.hpp"

namespace fatune {

/// Sums the counts of one run: in total, by opcode, and by source line (by PTX line where the
/// source line is not known). `program` was decoded from `function`. `source` has the text of the
/// files.
[[nodiscard]] EmulatedProfile make_emulated_profile(
    std::span<const emulate::InstructionCounts> counts, const emulate::Program& program,
    const PtxModule& module, const PtxFunction& function, const SourceLines& source);

}  // namespace fatune

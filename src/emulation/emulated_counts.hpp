#pragma once

#include <span>

#include "emulate/launch.hpp"
#include "emulate/program.hpp"
#include "ptx/module.hpp"
#include "ptx/source_names.hpp"
#include "report/emulation.hpp"

namespace fatune {

/// The counts of one run, in all, by opcode, and by source line; by PTX line where the source line
/// is not known. `function` is what `program` was decoded from; `source` has the files' text.
[[nodiscard]] EmulatedProfile make_emulated_profile(
    std::span<const emulate::InstructionCounts> counts, const emulate::Program& program,
    const PtxModule& module, const PtxFunction& function, const SourceLines& source);

}  // namespace fatune

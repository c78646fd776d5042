#pragma once

#include <span>

#include "attention/problem.hpp"
#include "core/kernel_code.hpp"
#include "emulate/launch.hpp"
#include "emulate/program.hpp"
#include "emulation/emulated_problem.hpp"
#include "ptx/module.hpp"
#include "report/emulation.hpp"

namespace fatune {

/// The work that a run's instructions give to the parts of an SM. `function` is what `program` was
/// decoded from.
[[nodiscard]] CountedWork count_work(std::span<const emulate::InstructionCounts> counts,
                                     const emulate::Program& program, const PtxFunction& function);

/// Work that was counted, and what of.
struct CountedSample {
  CountedWork work;
  EmulatedLaunch launch;
};

/// The work of the whole problem, extrapolated from one sample, or from two of different lengths.
/// The work of a block is a + b * keys, where `keys` is the number of keys that its queries see on
/// average. That is exact where tiles of queries and keys divide the lengths, and otherwise where
/// all lengths are ragged alike and nothing is masked. A single sample is taken to be as long as
/// the problem.
[[nodiscard]] CountedWork scale_work(const CountedSample& shorter, const CountedSample* longer,
                                     const Problem& problem, const LaunchGeometry& geometry);

}  // namespace fatune

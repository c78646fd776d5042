#pragma once

#include <span>

#include "attention/problem.hpp"
#include "core/kernel_code.hpp"
#include "emulate/launch.hpp"
#include "emulate/program.hpp"
#include "ptx/module.hpp"
#include "report/emulation.hpp"
#include "verify/emulated_problem.hpp"

namespace fatune {

/// What a run's instructions keep the parts of an SM busy with. `function` is what `program` was
/// decoded from.
[[nodiscard]] CountedWork count_work(std::span<const emulate::InstructionCounts> counts,
                                     const emulate::Program& program, const PtxFunction& function);

/// Work that was counted, and what of.
struct CountedSample {
  CountedWork work;
  EmulatedLaunch launch;
};

/// What the whole problem takes, judged by one sample of it, or two of different lengths: all their
/// blocks together do a + b * keys each, `keys` being how many a block's queries see on average.
/// That is exact where tiles of queries and keys divide the lengths; where they do not, it is when
/// all are ragged alike and nothing is masked. A single sample is taken for as long as the problem.
[[nodiscard]] CountedWork scale_work(const CountedSample& shorter, const CountedSample* longer,
                                     const Problem& problem, const LaunchGeometry& geometry);

}  // namespace fatune

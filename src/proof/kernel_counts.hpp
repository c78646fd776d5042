#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "emulator/launch.hpp"
#include "emulator/program.hpp"
#include "emulator/ptx/parse_ptx.hpp"
#include "model/emulation.hpp"
#include "model/problem.hpp"
#include "proof/emulated_inputs.hpp"

namespace fatune {

/// Sums the counts of one run: in total, by opcode, and by source line (by PTX line where the
/// source line is not known). `program` was decoded from `function`. `source` has the text of the
/// files.
[[nodiscard]] EmulatedProfile make_emulated_profile(
    std::span<const emulate::InstructionCounts> counts, const emulate::Program& program,
    const PtxModule& module, const PtxFunction& function, const SourceLines& source);

/// Counts the work that a run's instructions give to the units of an SM. `program` was decoded from
/// `function`.
[[nodiscard]] CountedWork count_work(std::span<const emulate::InstructionCounts> counts,
                                     const emulate::Program& program, const PtxFunction& function);

/// Returns the number of tiles of a problem, whose keys no blocks share; nothing if it is unknown.
using TileCount = std::function<std::optional<std::int64_t>(const Problem&)>;

/// Counted work, and what was run.
struct CountedSample {
  CountedWork work;
  EmulatedProblem on;
  std::int64_t blocks = 0;  ///< that ran
};

[[nodiscard]] CountedSample counted_sample(const CountedWork& work, const EmulatedLaunch& launch);

/// Extrapolates the work of the whole problem from one sample, or from two of different lengths.
/// The work of a tile is a + b * keys, where `keys` is the average number of keys that its queries
/// see. This is exact if the tiles of queries and keys divide the lengths. Otherwise it is exact if
/// all lengths have the same raggedness and nothing is masked. A single sample is assumed to be as
/// long as the problem. Returns nothing if a number of tiles is unknown, or if the samples give an
/// impossible amount of work.
[[nodiscard]] std::optional<CountedWork> scale_work(const CountedSample& shorter,
                                                    const CountedSample* longer,
                                                    const Problem& problem, const TileCount& tiles);

}  // namespace fatune

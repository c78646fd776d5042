#pragma once

#include "app/choice/target.hpp"
#include "engine/measuring_evaluator.hpp"

namespace fatune {

/// One of the target's GPUs, and what is done while another fatune measures on it. The rest of the
/// setup is left to the caller.
[[nodiscard]] MeasuringSetup gpu_setup(const Target& target, const TargetGpu& gpu,
                                       const TargetOptions& options, const OutputOptions& output);

}  // namespace fatune

#pragma once

#include "app/choice/target.hpp"
#include "engine/measuring_evaluator.hpp"

namespace fatune {

/// Returns the setup of one of the target's GPUs, with what to do while another fatune measures on
/// it. The caller sets the rest.
[[nodiscard]] MeasuringSetup gpu_setup(const Target& target, const TargetGpu& gpu,
                                       const TargetOptions& options, const OutputOptions& output);

}  // namespace fatune

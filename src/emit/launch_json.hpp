#pragma once

#include "attention/problem.hpp"
#include "core/kernel_code.hpp"
#include "emit/document/json_text.hpp"

namespace fatune {

/// Everything that another program needs to launch the kernel: the record of the launch
/// (record/record_json.hpp), and in "tensors" the q, k, v and o that its arguments refer to.
[[nodiscard]] Json json_launch(const Problem& problem, const LaunchGeometry& geometry);

}  // namespace fatune

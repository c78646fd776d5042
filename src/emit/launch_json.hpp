#pragma once

#include "attention/problem.hpp"
#include "core/kernel_code.hpp"
#include "emit/document/json_text.hpp"

namespace fatune {

/// All that another program needs to launch the kernel: the record of the launch
/// (record/record_json.hpp), and as "tensors" what its arguments mean by q, k, v and o.
[[nodiscard]] Json json_launch(const Problem& problem, const LaunchGeometry& geometry);

}  // namespace fatune

// The values on which the expressions of a family are evaluated.
#pragma once

#include "kernel_table.hpp"
#include "tensor_strides.hpp"

namespace fatune_attention::detail {

/// Precondition: the problem and the strides are valid.
Facts facts_of(const Problem& problem, const Tensors& tensors, const Device& device);

/// Returns the problem's own scale, or 1 / sqrt(d_head) if it has none.
float softmax_scale_of(const Problem& problem);

}  // namespace fatune_attention::detail

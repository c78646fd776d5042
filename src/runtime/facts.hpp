// What the expressions of a family are evaluated on.
#pragma once

#include "kernel_table.hpp"
#include "tensor_strides.hpp"

namespace fatune_attention::detail {

/// Precondition: nothing is wrong with the problem or the strides.
Facts facts_of(const Problem& problem, const Tensors& tensors, const Device& device);

/// 1 / sqrt(d_head), unless the problem has its own.
float softmax_scale_of(const Problem& problem);

}  // namespace fatune_attention::detail

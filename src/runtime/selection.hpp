// Selects the kernel for a problem.
#pragma once

#include "eligibility.hpp"

namespace fatune_attention::detail {

/// Precondition: the arguments are valid.
Selection selection_for(const Problem& problem, const Request& request);

}  // namespace fatune_attention::detail

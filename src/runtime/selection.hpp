// Which kernel is taken.
#pragma once

#include "eligibility.hpp"

namespace fatune_attention::detail {

/// For arguments with which nothing is wrong.
Selection selection_for(const Problem& problem, const Request& request);

}  // namespace fatune_attention::detail

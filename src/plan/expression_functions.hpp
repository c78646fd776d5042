#pragma once

#include <string>

#include "runtime/expression_math.hpp"

namespace mu {
class Parser;
}

// The functions that expressions may call, on IEEE doubles.
namespace fatune {

using fatune_attention::math::ceil_log2;
using fatune_attention::math::tile_sum;
using fatune_attention::math::umulhi_magic;

void define_functions(mu::Parser& parser);

/// "min, max, ceil_div, ...", for messages.
[[nodiscard]] std::string function_names();

}  // namespace fatune

#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

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

/// A function's result. Nothing if there is no such function of so many arguments.
[[nodiscard]] std::optional<double> called(std::string_view function,
                                           std::span<const double> arguments);

/// "min, max, ceil_div, ...", for messages.
[[nodiscard]] std::string function_names();

}  // namespace fatune

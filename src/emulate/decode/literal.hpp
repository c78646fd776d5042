#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "emulate/decode/scalar_type.hpp"

namespace fatune::emulate {

/// The bits of a PTX constant as a value of the type: "-16", "0x1f", "0U", "0b101", "0f3F800000"
/// (the bits of a float), "0d3FF0000000000000", "1.5". Empty if the text is not a constant.
[[nodiscard]] std::optional<std::uint64_t> literal_bits(std::string_view text, ScalarType type);

}  // namespace fatune::emulate

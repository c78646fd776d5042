#pragma once

#include <string>

#include "inspect/sass/listing.hpp"

namespace fatune {

/// The text of tests/listings/<name>.
[[nodiscard]] std::string listing_text(const std::string& name);
[[nodiscard]] Listing recorded_listing(const std::string& name);

/// A function "f" with these lines. "A:" is the label .LA, and every other line is an instruction
/// without its address and ';'.
[[nodiscard]] SassFunction function_of(const std::string& lines);

[[nodiscard]] const SassFunction& function_named(const Listing& listing, const std::string& name);

}  // namespace fatune

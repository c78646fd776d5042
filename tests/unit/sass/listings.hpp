#pragma once

#include <string>

#include "sass/listing.hpp"

namespace fatune {

/// The text of tests/listings/<name>.
[[nodiscard]] std::string listing_text(const std::string& name);
[[nodiscard]] Listing recorded_listing(const std::string& name);

/// A listing of one function "f" with these lines; "A:" is the label .LA, everything else an
/// instruction without its address and ';'.
[[nodiscard]] SassFunction function_of(const std::string& lines);

[[nodiscard]] const SassFunction& function_named(const Listing& listing, const std::string& name);

}  // namespace fatune

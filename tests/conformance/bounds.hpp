#pragma once

#include <string_view>

namespace fatune::conformance {

/// How far a result of an approximation may be from another machine's: error <= absolute + relative
/// x |value|.
struct Bound {
  double relative = 0.0;
  double absolute = 0.0;
};

/// The bound of a case, by its text; null: its results are the same bit by bit.
[[nodiscard]] const Bound* bound_of(std::string_view text);

}  // namespace fatune::conformance

#pragma once

#include <string_view>

namespace fatune::conformance {

/// The largest allowed difference between an approximation's results on two machines: error <=
/// absolute + relative x |value|.
struct Bound {
  double relative = 0.0;
  double absolute = 0.0;
};

/// The bound of a case, by its text. Null: its results must be identical bit by bit.
[[nodiscard]] const Bound* bound_of(std::string_view text);

}  // namespace fatune::conformance

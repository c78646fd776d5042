#pragma once

#include <muParser.h>

namespace fatune {

/// Gives a parser the operators of our expressions in place of its own. They are those of IEEE
/// doubles, but that a comparison with what is not finite (a division by zero) is not true or
/// false: it is NaN, and so is what follows from it. `&&` with a false side is false and `||` with
/// a true one true nevertheless, so that `b != 0 && a / b > 2` may be written.
void define_operators(mu::Parser& parser);

/// Whether comparisons of this thread were NaN since it was made, other than those that `&&` and
/// `||` had no need of: `?:` would take such a one for true.
class UnknownComparisons {
 public:
  UnknownComparisons();
  [[nodiscard]] bool any() const;
};

}  // namespace fatune

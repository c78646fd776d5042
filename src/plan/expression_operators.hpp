#pragma once

#include <muParser.h>

namespace fatune {

/// Replaces a parser's operators by those of fatune's expressions. They are those of IEEE doubles,
/// except that a comparison with a value that is not finite (a division by zero) is neither true
/// nor false but NaN, and so is what depends on it. `&&` with a false side is still false, and `||`
/// with a true side still true, so `b != 0 && a / b > 2` works.
void define_operators(mu::Parser& parser);

/// Detects NaN comparisons of this thread since its construction, except those that `&&` and `||`
/// did not need. It is necessary because `?:` takes NaN for true.
class UnknownComparisons {
 public:
  UnknownComparisons();
  [[nodiscard]] bool any() const;
};

}  // namespace fatune

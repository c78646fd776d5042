#include "report/verdict.hpp"

#include <algorithm>

namespace fatune {
Verdict verdict_of(const SlowerBy& interval, double tolerance_percent) {
  const double most = tolerance_percent;
  const double least = 100.0 * (1.0 / (1.0 + tolerance_percent / 100.0) - 1.0);
  return interval.least > most                                  ? Verdict::slower
         : interval.greatest < least                            ? Verdict::faster
         : interval.least >= least && interval.greatest <= most ? Verdict::equal
                                                                : Verdict::undecided;
}

Verdict verdict_of(TrialEnd end, TrialEnd rivals_end) {
  return end == TrialEnd::untried          ? Verdict::gone
         : rivals_end == TrialEnd::untried ? Verdict::added
         : end == TrialEnd::timed          ? Verdict::repaired
         : rivals_end == TrialEnd::timed   ? Verdict::failed
                                           : Verdict::failing;
}

bool is_worse(const RivalCheck& check) {
  return check.verdict == Verdict::slower || check.verdict == Verdict::failed;
}

bool is_worse(const std::vector<RivalCheck>& checks) {
  return std::ranges::any_of(checks, [](const RivalCheck& check) { return is_worse(check); });
}

}  // namespace fatune

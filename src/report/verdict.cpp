#include "report/verdict.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "core/error.hpp"

namespace fatune {
namespace {

constexpr std::array<std::string_view, kVerdicts> kNames{
    "failed", "slower", "faster", "repaired", "undecided", "equal", "gone", "added", "failing"};
constexpr std::array<std::string_view, kDoubts> kDoubtTexts{
    "",
    "both times are of one run",
    "the times are of different GPU models",
    "a time is an estimate",
    "a time is from an earlier run",
    "too few configurations are in both runs",
    "moved as all others did",
    "the interval is too wide",
    "too few samples",
    "the run or its budget ended before this was measured"};

/// The enumerator of that text. Error(bad_file) if there is none.
template <typename Enumeration, std::size_t kCount>
Enumeration parse(const std::array<std::string_view, kCount>& texts, std::string_view text,
                  const char* what) {
  const auto found = std::ranges::find(texts, text);
  if (found == texts.end()) {
    throw Error(ExitCode::bad_file, fmt::format("there is no {} '{}'", what, text));
  }
  return static_cast<Enumeration>(found - texts.begin());
}

}  // namespace

std::string_view verdict_name(Verdict verdict) {
  return kNames.at(static_cast<std::size_t>(verdict));
}
Verdict parse_verdict(std::string_view name) { return parse<Verdict>(kNames, name, "verdict"); }

std::string_view doubt_text(Doubt doubt) { return kDoubtTexts.at(static_cast<std::size_t>(doubt)); }
Doubt parse_doubt(std::string_view text) { return parse<Doubt>(kDoubtTexts, text, "doubt"); }

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

#include "core/stop_reason.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "core/error.hpp"

namespace fatune {
namespace {

/// Ordered like StopReason.
constexpr std::array<std::string_view, 7> kStopReasonNames{
    "interrupted",    "fixed count", "target reached", "noise stopped falling",
    "budget used up", "round limit", "nobody left"};

}  // namespace

std::string_view stop_reason_name(StopReason reason) {
  return kStopReasonNames.at(static_cast<std::size_t>(reason));
}

StopReason parse_stop_reason(std::string_view name) {
  const auto* const found = std::ranges::find(kStopReasonNames, name);
  if (found == kStopReasonNames.end()) {
    throw Error(ExitCode::bad_file, "there is no stop reason '" + std::string(name) + "'");
  }
  return static_cast<StopReason>(found - kStopReasonNames.begin());
}

}  // namespace fatune

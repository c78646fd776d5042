#include "core/estimate_source.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "core/error.hpp"

namespace fatune {
namespace {

/// Ordered like EstimateSource.
constexpr std::array<std::string_view, 4> kEstimateSourceNames{"problem", "family", "emulation",
                                                               "calibration"};

}  // namespace

std::string_view estimate_source_name(EstimateSource source) {
  return kEstimateSourceNames.at(static_cast<std::size_t>(source));
}

EstimateSource parse_estimate_source(std::string_view name) {
  const auto* const found = std::ranges::find(kEstimateSourceNames, name);
  if (found == kEstimateSourceNames.end()) {
    throw Error(ExitCode::bad_file, "there is no source of estimates '" + std::string(name) + "'");
  }
  return static_cast<EstimateSource>(found - kEstimateSourceNames.begin());
}

}  // namespace fatune

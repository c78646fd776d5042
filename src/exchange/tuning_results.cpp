#include "exchange/tuning_results.hpp"

#include <algorithm>
#include <array>

namespace fatune {
namespace {

constexpr std::array<std::string_view, 6> kValidityNames{"correct", "compile",     "runtime",
                                                         "timeout", "correctness", "constraints"};

}  // namespace

std::string_view validity_name(Validity validity) {
  return kValidityNames.at(static_cast<std::size_t>(validity));
}

Validity parse_validity(std::string_view name) {
  return static_cast<Validity>(std::ranges::find(kValidityNames, name) - kValidityNames.begin());
}

}  // namespace fatune

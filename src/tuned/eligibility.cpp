#include "tuned/eligibility.hpp"

#include "core/error.hpp"
#include "plan/planner.hpp"

namespace fatune {
namespace {

std::optional<std::string> why_not_launched(const Family& family, const Config& config,
                                            const Problem& problem, const DeviceLimits& device) {
  if (const auto invalid = check_valid(family, config, &problem, &device)) {
    return invalid->reason;
  }
  if (const auto unlaunchable = check_limits(family, config, problem, device)) {
    return unlaunchable->limit;
  }
  return std::nullopt;
}

}  // namespace

WhyNot families_say(const FamilySet& families) {
  return [&families](const Config& config, const Problem& problem,
                     const DeviceLimits& device) -> std::optional<std::string> {
    const Family& family = families.of(config);
    try {
      return why_not_launched(family, config, problem, device);
    } catch (const Error& error) {
      return "the problem is too large for it: " + error.what_was_wrong();
    }
  };
}

}  // namespace fatune

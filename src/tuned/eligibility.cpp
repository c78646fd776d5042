#include "tuned/eligibility.hpp"

#include "plan/planner.hpp"

namespace fatune {

WhyNot families_say(const FamilySet& families) {
  return [&families](const Config& config, const Problem& problem,
                     const DeviceLimits& device) -> std::optional<std::string> {
    const Family& family = families.of(config);
    if (const auto invalid = check_valid(family, config, &problem, &device)) {
      return invalid->reason;
    }
    if (const auto unlaunchable = check_limits(family, config, problem, device)) {
      return unlaunchable->limit;
    }
    return std::nullopt;
  };
}

}  // namespace fatune

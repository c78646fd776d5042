#pragma once

#include "plan/family_set.hpp"
#include "tuned/tuned_choice.hpp"

namespace fatune {

/// Returns a check by the families' own rules: values that the kernel knows, its rules of validity
/// for the problem and the device, and the device's limits. A problem on which an expression fails,
/// such as one that is too large for the arguments, is refused. `families` must outlive the result.
[[nodiscard]] WhyNot families_say(const FamilySet& families);

}  // namespace fatune

#pragma once

#include "plan/family_set.hpp"
#include "tuned/tuned_choice.hpp"

namespace fatune {

/// What the families themselves say: values that the kernel knows, its rules of validity for the
/// problem and the device, and the device's limits. `families` must outlive it.
[[nodiscard]] WhyNot families_say(const FamilySet& families);

}  // namespace fatune

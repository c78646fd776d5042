#pragma once

#include <random>
#include <vector>

#include "attention/problem.hpp"
#include "core/device_limits.hpp"
#include "library/library.hpp"
#include "plan/family_set.hpp"
#include "tuned/tuned_table.hpp"

namespace fatune::samples {

/// The shipped families, and two of the tests that pass arguments in other ways.
[[nodiscard]] FamilySet library_families();

[[nodiscard]] DeviceLimits h200();

/// A table in which each family has some configurations of its default space.
[[nodiscard]] TunedTable library_table(const FamilySet& families);

/// Its library: machine code is the text of the compile request. The arguments must outlive it.
[[nodiscard]] Library library_of(const FamilySet& families, const TunedTable& table);

/// A problem of any kind that kernels take, ragged lengths and groups of heads too.
[[nodiscard]] Problem any_problem(std::mt19937& engine);

}  // namespace fatune::samples

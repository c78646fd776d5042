#pragma once

#include <random>
#include <vector>

#include "choose/library.hpp"
#include "choose/tuned_table.hpp"
#include "model/device_limits.hpp"
#include "model/problem.hpp"
#include "plan/family.hpp"

namespace fatune::samples {

/// The shipped families, and two test families that pass arguments in other ways.
[[nodiscard]] FamilySet library_families();

[[nodiscard]] DeviceLimits h200();

/// A table in which each family has some configurations of its default space.
[[nodiscard]] TunedTable library_table(const FamilySet& families);

/// The library of the table. The artifact key of a request stands in for its machine code. The
/// arguments must outlive the library.
[[nodiscard]] Library library_of(const FamilySet& families, const TunedTable& table);

/// A random problem of any kind that kernels take, including ragged lengths, grouped heads, and
/// lengths of keys as exported libraries know them.
[[nodiscard]] Problem any_problem(std::mt19937& engine);

}  // namespace fatune::samples

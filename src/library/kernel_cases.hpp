#pragma once

#include <vector>

#include "attention/problem.hpp"
#include "core/device_limits.hpp"
#include "tuned/tuned_table.hpp"

namespace fatune {

/// A problem on a device for which a library has a configuration's machine code.
struct KernelCase {
  Problem problem;
  const DeviceLimits* device;  ///< points into TunedTable::gpus
};

/// The cases that a configuration's machine code is built for: the tuned problems that have its
/// time or whose default it is, and variants of each with other lengths of keys (that tiles divide,
/// and one less), with as many or half as many queries, and with and without log-sum-exps. Many of
/// them have the same machine code: kernel_key() tells which.
[[nodiscard]] std::vector<KernelCase> kernel_cases(const TunedTable& table, const Config& config);

}  // namespace fatune

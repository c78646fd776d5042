#pragma once

#include <vector>

#include "attention/problem.hpp"
#include "core/device_limits.hpp"
#include "tuned/tuned_table.hpp"

namespace fatune {

/// A problem on a device for which a library has a configuration's machine code.
struct KernelCase {
  Problem problem;
  const DeviceLimits* device;  ///< of TunedTable::gpus
};

/// What a configuration's machine code is built for: the tuned problems that have its time, or that
/// it is the default of, and beside each the same with other lengths of keys (that tiles divide,
/// and one less), with as many queries or half as many, with log-sum-exps and without. Their
/// machine code is often the same: kernel_key() says when.
[[nodiscard]] std::vector<KernelCase> kernel_cases(const TunedTable& table, const Config& config);

}  // namespace fatune

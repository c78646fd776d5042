#pragma once

#include <cstddef>
#include <vector>

#include "attention/problem.hpp"
#include "core/config.hpp"
#include "core/device_limits.hpp"
#include "plan/family.hpp"
#include "tuned/tuned_table.hpp"

namespace fatune {

/// A number on which a configuration's machine code depends: an expression's value or a symbol's.
struct KeyPart {
  const Expression* expression = nullptr;  ///< null: the symbol
  std::size_t symbol = 0;
};

/// The numbers of a problem and a device that decide the machine code of the family's
/// configurations: the conditions and values of its source, entry, options and defines. Two
/// problems with the same values have equal compile requests. The family must outlive the result.
[[nodiscard]] std::vector<KeyPart> key_parts(const Family& family);

/// The architecture, then the values of the parts in order. Error(bad_file) if a part has none.
[[nodiscard]] std::vector<double> kernel_key(const Family& family, const Config& config,
                                             const Problem& problem, const DeviceLimits& limits);

/// The length of a kernel_key().
[[nodiscard]] std::size_t key_length(const Family& family);

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

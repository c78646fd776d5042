#pragma once

#include <cstddef>
#include <vector>

#include "attention/problem.hpp"
#include "core/config.hpp"
#include "core/device_limits.hpp"
#include "plan/family.hpp"

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

}  // namespace fatune

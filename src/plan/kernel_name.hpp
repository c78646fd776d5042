#pragma once

#include <string>
#include <string_view>

#include "core/config.hpp"
#include "plan/family.hpp"

namespace fatune {

/// "flash_forward_kernel<FlashForwardKernelConfig{5, 128, 64, 64, 4, 1, ...}>": the kernel's name
/// without its arguments, as C++ and profilers write it. Empty if the family has no such form.
[[nodiscard]] std::string kernel_name(const Family& family, const Config& config);

/// True if `text` mentions the family's kernel function or its configuration type, and so must be
/// read as a kernel name and not as a short form.
[[nodiscard]] bool looks_like_kernel_name(const Family& family, std::string_view text);

/// Reads the demangled name ("void ns::f<C{5, ...}>(Args)") and the typed form
/// ("C{(c10::ScalarType)5, (int)128, (bool)1}"). Throws Error(usage) naming what could not be read.
[[nodiscard]] Config parse_kernel_name(const Family& family, std::string_view text);

}  // namespace fatune

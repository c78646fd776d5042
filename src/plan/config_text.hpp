#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/report.hpp"
#include "plan/family.hpp"

namespace fatune {

/// "flash_forward_kernel<FlashForwardKernelConfig{5, 128, 64, 64, 4, 1, ...}>": the kernel's name
/// without its arguments, as C++ and profilers write it. Empty if the family has no such form.
[[nodiscard]] std::string kernel_name(const Family& family, const Config& config);

/// True if `text` mentions the family's kernel function or its configuration type, and so must be
/// read as a kernel name and not as a short form.
[[nodiscard]] inline bool looks_like_kernel_name(const Family& family, std::string_view text) {
  return family.kernel_name && (text.find(family.kernel_name->config) != std::string_view::npos ||
                                text.find(family.kernel_name->function) != std::string_view::npos);
}

/// Reads the demangled name ("void ns::f<C{5, ...}>(Args)") and the typed form
/// ("C{(c10::ScalarType)5, (int)128, (bool)1}"). Throws Error(usage) naming what could not be read.
[[nodiscard]] Config parse_kernel_name(const Family& family, std::string_view text);

/// "(FP16, 128, 64, 64, 4): async+eager+swizzled+load_0_2_2_tiles+buffer+opt_softmax": the tuple,
/// then the flags that are on and the patterns, in the family's order.
[[nodiscard]] std::string short_form(const Family& family, const Config& config);

/// Reads a short form with any white space, enumerators in any case and flags in any order. The
/// whole may be framed by '|', like a table cell. Throws Error(usage) naming what could not be
/// read, its position, and the known flags.
[[nodiscard]] Config parse_short_form(const Family& family, std::string_view text);

/// The grammar as the user types it, for messages and --help: "(dtype, d_head, ...): async+...".
[[nodiscard]] std::string short_form_usage(const Family& family);

/// Reads a configuration in any form: demangled kernel name, typed form or short form (see
/// parse_kernel_name and parse_short_form). Throws Error(usage) naming what could not be read. Does
/// not check that the kernel can be built: see check_valid.
[[nodiscard]] inline Config parse_config(const Family& family, std::string_view text) {
  return looks_like_kernel_name(family, text) ? parse_kernel_name(family, text)
                                              : parse_short_form(family, text);
}

/// The values with their names, in the family's order.
[[nodiscard]] std::vector<NamedValue> named_values(const Family& family, const Config& config);

/// The result of a configuration before it is compiled.
[[nodiscard]] Result make_result(const Family& family, const Config& config);

}  // namespace fatune

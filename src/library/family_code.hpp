#pragma once

#include <string>
#include <string_view>

#include "plan/family.hpp"

namespace fatune {

/// Makes a C++ string literal. Quotes, backslashes and bytes that do not print are escaped.
[[nodiscard]] std::string cpp_string(std::string_view text);

/// Makes a C++ comment of one line, "// text", which no text can end or continue.
[[nodiscard]] std::string cpp_comment(std::string_view text);

/// Makes three C++ functions from a family's expressions, for the source of an exported library:
///
///   const char* refusal_NAME(const double* p, const Facts& f);     why a problem is not valid
///   int key_NAME(const double* p, const Facts& f, double* key);    kernel_key(); its length
///   void launch_NAME(const double* p, const Facts& f, LaunchBuilder& b);
///
/// `p` has the values of a configuration's parameters. runtime/kernel_table.hpp has the rest.
[[nodiscard]] std::string family_code(const Family& family);

/// Whether a launch of the family depends on how many blocks fit on an SM, which a library does not
/// know.
[[nodiscard]] bool needs_resident_blocks(const Family& family);

}  // namespace fatune

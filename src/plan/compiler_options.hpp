#pragma once

#include <string>
#include <string_view>

namespace fatune {

/// True if a family's file may have this option for NVRTC: it is in the list, and so is the form of
/// its value. No option in the list names a file, and none is set by fatune.
[[nodiscard]] bool is_plain_compiler_option(std::string_view option);
/// What a file may have in its place, for messages: the form of the option's value, or all names.
[[nodiscard]] std::string plain_compiler_options(std::string_view option);

}  // namespace fatune

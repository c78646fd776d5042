#pragma once

#include <string>
#include <vector>

#include "core/sanitizer.hpp"

namespace fatune {

/// How compute-sanitizer is called.
struct SanitizerCommand {
  std::string program;
  SanitizerTool tool = SanitizerTool::memcheck;
  std::string log_folder;   ///< each of its processes writes <pid>.log there
  std::string kernel_name;  ///< part of the mangled name of the kernels to look at
};

/// The command with its options; the program to be looked at, and its arguments, are to follow.
[[nodiscard]] std::vector<std::string> sanitizer_words(const SanitizerCommand& command);

}  // namespace fatune

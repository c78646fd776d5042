#pragma once

#include <string>
#include <vector>

#include "core/sanitizer.hpp"

namespace fatune {

/// A call of compute-sanitizer.
struct SanitizerCommand {
  std::string program;
  SanitizerTool tool = SanitizerTool::memcheck;
  std::string log_folder;  ///< each of its processes writes <pid>.log there
  /// Parts of the mangled names of the kernels to look at; not empty.
  std::vector<std::string> kernel_names;
};

/// The command with its options. The program to be checked, and its arguments, must follow.
[[nodiscard]] std::vector<std::string> sanitizer_words(const SanitizerCommand& command);

}  // namespace fatune

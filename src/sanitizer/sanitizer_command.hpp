#pragma once

#include <string>
#include <vector>

#include "core/sanitizer.hpp"

namespace fatune {

/// How compute-sanitizer is called.
struct SanitizerCommand {
  std::string program;
  SanitizerTool tool = SanitizerTool::memcheck;
  std::string log_folder;  ///< each of its processes writes <pid>.log there
  /// Parts of the mangled names of the kernels to look at; not empty.
  std::vector<std::string> kernel_names;
};

/// The command with its options; the program to be looked at, and its arguments, are to follow.
[[nodiscard]] std::vector<std::string> sanitizer_words(const SanitizerCommand& command);

}  // namespace fatune

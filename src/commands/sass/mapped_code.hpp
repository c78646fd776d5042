#pragma once

#include <string>
#include <vector>

#include "commands/sass/sass_case.hpp"
#include "commands/sass/sass_code.hpp"
#include "ptx/module.hpp"
#include "ptx/source_names.hpp"

namespace fatune {

/// A kernel's machine code with the lines that it was made from. Files have the names that #include
/// uses ("flash_sm80/softmax.cuh").
struct MappedCode {
  SassCode code;
  std::string ptx_text;
  PtxModule ptx;
  std::size_t ptx_function = 0;  ///< index of the kernel
  SourceLines files;
};

/// Compiles the configuration with line information. This is a separate artifact with the same
/// machine code. Throws as load_code().
[[nodiscard]] MappedCode load_mapped_code(const CodeOptions& options, const CodeSource& source);

}  // namespace fatune

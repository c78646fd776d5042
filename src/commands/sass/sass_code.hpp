#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/choice/kernel_choice.hpp"
#include "attention/problem.hpp"
#include "commands/sass/sass_options.hpp"
#include "core/kernel_code.hpp"
#include "data/file_tree.hpp"
#include "sass/listing.hpp"

namespace fatune {

/// One kernel's machine code, disassembled.
struct SassCode {
  std::string source;                  ///< a configuration's short form, or a file
  std::optional<ResourceFacts> facts;  ///< absent for a file
  std::string artifact_key;            ///< empty for a file
  Listing listing;
  std::size_t function = 0;  ///< index of the kernel

  [[nodiscard]] const SassFunction& kernel() const { return listing.functions.at(function); }
};

/// Loads the code that the user names: a configuration, compiled for the options' problem, an
/// artifact of the cache, or a file (load_code_file()). Throws Error(usage) for a configuration
/// that does not parse, and for a file of several kernels without --function. Throws
/// Error(bad_file) for any other file, for code that does not compile, and if nvdisasm is not
/// installed.
[[nodiscard]] SassCode load_code(const CodeOptions& options, const CodeSource& source);

/// Returns the source that the options name. Throws Error(usage) if they name none.
[[nodiscard]] const CodeSource& named_source(const CodeOptions& options);

/// Returns the code of the configurations, in order. Absent: not compiled, or interrupted.
[[nodiscard]] std::vector<std::optional<SassCode>> compile_code(
    const FamilySet& families, const std::vector<Config>& configs,
    const std::vector<Problem>& problems, const DeviceLimits& limits,
    const CompileSettings& settings);

}  // namespace fatune

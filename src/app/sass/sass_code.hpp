#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/choice/kernel_choice.hpp"
#include "app/sass/code_options.hpp"
#include "attention/problem.hpp"
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

/// The code that the user names: a configuration, compiled for the options' problem, or a file (a
/// cubin, or what nvdisasm printed of one). Error(usage) for a configuration that does not parse,
/// and for a file of several kernels without --function; Error(bad_file) for a file that is none of
/// the two, for code that does not compile, and where nvdisasm is not installed.
[[nodiscard]] SassCode load_code(const CodeOptions& options, const CodeSource& source);

/// The source that the options name. Error(usage) when they name none.
[[nodiscard]] const CodeSource& named_source(const CodeOptions& options);

/// The code of those configurations that compile, in their order; the others are absent.
[[nodiscard]] std::vector<std::optional<SassCode>> compile_code(
    const FamilySet& families, const std::vector<Config>& configs,
    const std::vector<Problem>& problems, const DeviceLimits& limits,
    const CompileSettings& settings);

}  // namespace fatune

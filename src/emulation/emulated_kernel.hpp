#pragma once

#include <cstddef>
#include <string>

#include "core/kernel_code.hpp"
#include "emulate/finding.hpp"
#include "emulate/program.hpp"
#include "ptx/module.hpp"
#include "ptx/source_names.hpp"
#include "report/emulation.hpp"

namespace fatune {

/// A kernel ready to be emulated, with the text that it was made from.
struct EmulatedKernel {
  SourceLines source;
  PtxModule module;
  const PtxFunction* function = nullptr;
  emulate::Program program;

  [[nodiscard]] const PtxStatement& statement(std::size_t instruction) const {
    return function->statements.at(program.statements.at(instruction));
  }
};

/// Reads an artifact's PTX. `name` is for messages. Error(bad_file) when it is not covered, or the
/// kernel's parameters have another size than the arguments.
[[nodiscard]] EmulatedKernel read_kernel(const Artifact& artifact, const SourceBundle& sources,
                                         const std::string& name, const KernelArguments& arguments);

/// A finding with its places. Which run it was of the caller says.
[[nodiscard]] EmulatedFinding located(const EmulatedKernel& kernel,
                                      const emulate::Finding& finding);

}  // namespace fatune

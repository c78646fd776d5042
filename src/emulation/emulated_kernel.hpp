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

/// A decoded kernel, with the PTX and the source that it was made from.
struct EmulatedKernel {
  SourceLines source;
  PtxModule module;
  const PtxFunction* function = nullptr;
  emulate::Program program;

  [[nodiscard]] const PtxStatement& statement(std::size_t instruction) const {
    return function->statements.at(program.statements.at(instruction));
  }
};

/// Reads and decodes an artifact's PTX. `name` is used in messages. Throws Error(bad_file) if the
/// PTX is not covered, or if the kernel's parameters and the arguments differ in size.
[[nodiscard]] EmulatedKernel read_kernel(const Artifact& artifact, const SourceBundle& sources,
                                         const std::string& name, const KernelArguments& arguments);

/// Adds the PTX and source places to a finding. The caller has to say which run it belongs to.
[[nodiscard]] EmulatedFinding located(const EmulatedKernel& kernel,
                                      const emulate::Finding& finding);

}  // namespace fatune

#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "emulator/launch.hpp"
#include "emulator/program.hpp"
#include "emulator/ptx/parse_ptx.hpp"
#include "emulator/ptx/source_places.hpp"
#include "model/emulation.hpp"
#include "model/kernel_code.hpp"

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

/// Groups the findings, sets the group number of each, and returns the groups. Races are in one
/// group if the call chains of their two accesses diverge at the same two lines, wherever these
/// lines are called from. An uninitialised read belongs to the group of the race at the same
/// instruction. A copy that was not waited for belongs to the group of the race with that copy.
/// Other findings are in one group if they have the same kind and place in the source.
[[nodiscard]] std::vector<FindingGroup> group_findings(std::vector<EmulatedFinding>& findings);

/// Describes the first finding with its place (for a race, both places), and says how many more
/// there are. Precondition: there is at least one finding.
[[nodiscard]] std::string findings_summary(const std::vector<EmulatedFinding>& findings,
                                           const std::vector<FindingGroup>& groups);

}  // namespace fatune

#include "emulation/emulated_kernel.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/error.hpp"
#include "emulate/decode/decode_program.hpp"
#include "ptx/parse_ptx.hpp"

namespace fatune {
namespace {

EmulatedAccess located_access(const EmulatedKernel& kernel, const emulate::OtherAccess& other) {
  const PtxStatement& statement = kernel.statement(other.instruction);
  return {emulate::name_of(other.kind),
          statement.line,
          statement.text,
          kernel.module.places.at(statement.place),
          other.block,
          other.thread};
}

}  // namespace

EmulatedKernel read_kernel(const Artifact& artifact, const SourceBundle& sources,
                           const std::string& name, const KernelArguments& arguments) {
  EmulatedKernel kernel;
  kernel.module = parse_ptx(artifact.ptx, name);
  kernel.source = lines_of_files(sources);
  use_include_names(kernel.source, kernel.module.places);
  kernel.program = emulate::decode_program(kernel.module, artifact.lowered_name, name);
  kernel.function =
      &*std::ranges::find(kernel.module.functions, artifact.lowered_name, &PtxFunction::name);
  const auto bytes = static_cast<std::size_t>(argument_offsets(arguments.list).back());
  if (kernel.program.parameter_bytes != bytes) {
    throw Error(ExitCode::bad_file,
                fmt::format("the kernel takes {} bytes of arguments, but {} has {}",
                            kernel.program.parameter_bytes,
                            arguments.standard ? "attention_forward" : "the family", bytes),
                name);
  }
  return kernel;
}

EmulatedFinding located(const EmulatedKernel& kernel, const emulate::Finding& finding) {
  const PtxStatement& statement = kernel.statement(finding.instruction);
  EmulatedFinding located;
  located.check = emulate::check_of(finding.kind);
  located.kind = emulate::name_of(finding.kind);
  located.ptx_line = statement.line;
  located.ptx = statement.text;
  located.source = kernel.module.places.at(statement.place);
  located.block = finding.block;
  located.thread = finding.thread;
  located.text = finding.text;
  located.count = static_cast<std::int64_t>(finding.count);
  located.memory = finding.memory;
  located.access = finding.access ? emulate::name_of(*finding.access) : "";
  if (finding.other) {
    located.other = located_access(kernel, *finding.other);
  }
  return located;
}

}  // namespace fatune

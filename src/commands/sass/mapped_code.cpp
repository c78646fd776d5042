#include "commands/sass/mapped_code.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "app/run/session.hpp"
#include "app/scratch_folder.hpp"
#include "commands/sass/disassemble.hpp"
#include "compile/compiler.hpp"
#include "core/error.hpp"
#include "ptx/parse_ptx.hpp"
#include "ptx/source_names.hpp"

namespace fatune {
namespace {

std::size_t ptx_function_of(const PtxModule& module, const std::string& name) {
  const auto& all = module.functions;
  const auto found = std::ranges::find(all, name, &PtxFunction::name);
  if (found == all.end()) {
    throw Error(ExitCode::internal, fmt::format("the PTX has no function '{}'", name));
  }
  return static_cast<std::size_t>(found - all.begin());
}

Artifact compile_with_lines(const SassCase& one, const CompileSettings& settings) {
  const auto cache = open_cache(settings);
  CompileResult result = compile(with_line_info(one.request()), cache.get(), true);
  if (const std::string* log = failure_log(result)) {
    throw Error(ExitCode::bad_file, "the configuration does not compile", one.name(), *log);
  }
  return std::get<Artifact>(std::move(result));
}

}  // namespace

MappedCode load_mapped_code(const CodeOptions& options, const CodeSource& source) {
  const SassCase one = sass_case(options, source);
  const std::string tool = nvdisasm();
  const Artifact artifact = compile_with_lines(one, options.compile);
  const ScratchFolder scratch;
  MappedCode mapped;
  mapped.code = {one.name(), artifact.facts, artifact.key,
                 disassemble(tool, artifact, scratch.path(), one.name(), LineInfo::with)};
  mapped.code.function = index_of(mapped.code.listing, artifact.lowered_name, one.name());
  mapped.ptx_text = artifact.ptx;
  mapped.ptx = parse_ptx(artifact.ptx, one.name());
  mapped.ptx_function = ptx_function_of(mapped.ptx, artifact.lowered_name);
  mapped.files = lines_of_files(*one.request().sources);
  use_include_names(mapped.files, mapped.code.listing.places);
  use_include_names(mapped.files, mapped.ptx.places);
  return mapped;
}

}  // namespace fatune

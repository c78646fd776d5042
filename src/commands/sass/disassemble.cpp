#include "commands/sass/disassemble.hpp"

#include <atomic>
#include <vector>

#include <fmt/format.h>

#include "core/error.hpp"
#include "emit/output_file.hpp"
#include "process/find_tool.hpp"
#include "process/run_program.hpp"
#include "sass/parse_listing.hpp"

namespace fatune {

std::string nvdisasm() {
  const auto tool = find_nvdisasm();
  if (!tool) {
    throw Error(
        ExitCode::bad_file, "nvdisasm, which reads machine code, is not installed", {},
        "scripts/setup --tools, 'pip install nvidia-cuda-nvdisasm' and CUDA toolkits install "
        "it; or set its path in FATUNE_NVDISASM");
  }
  return tool->string();
}

Listing disassemble(const std::string& tool, const std::filesystem::path& cubin,
                    const std::string& name, LineInfo lines) {
  std::vector<std::string> arguments{"-c"};
  if (lines == LineInfo::with) {
    arguments.insert(arguments.end(), {"-gi", "-gp"});
  }
  arguments.push_back(cubin.string());
  return parse_listing(run_program(tool, arguments).out, name);
}

Listing disassemble(const std::string& tool, const Artifact& artifact,
                    const std::filesystem::path& folder, const std::string& name, LineInfo lines) {
  static std::atomic<unsigned> count{0};
  const std::filesystem::path cubin = folder / fmt::format("{}.cubin", count++);
  write_output_file(cubin, {artifact.cubin.data(), artifact.cubin.size()});
  return disassemble(tool, cubin, name, lines);
}

std::size_t index_of(const Listing& listing, const std::string& name, const std::string& source) {
  for (std::size_t i = 0; i < listing.functions.size(); ++i) {
    if (listing.functions[i].name == name) {
      return i;
    }
  }
  throw Error(ExitCode::usage, fmt::format("there is no function '{}'", name), source);
}

}  // namespace fatune

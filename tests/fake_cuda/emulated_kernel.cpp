// Reads kernels from the PTX that follows their machine code.
#include <algorithm>
#include <regex>
#include <stdexcept>

#include "emulator/decode/names.hpp"
#include "emulator/program.hpp"
#include "emulator/ptx/parse_ptx.hpp"
#include "fake_cuda/module.hpp"

namespace fake_cuda {
namespace {

using fatune::PtxFunction;
using fatune::PtxModule;

const PtxFunction& find_function(const PtxModule& module, const std::string& name) {
  const auto found =
      std::find_if(module.functions.begin(), module.functions.end(),
                   [&](const PtxFunction& function) { return function.name == name; });
  if (found == module.functions.end()) {
    throw std::runtime_error("no such kernel in the PTX");
  }
  return *found;
}

// Parses declarations such as ".param .align 8 .b8 args[48]" and ".param .u64 .ptr .align 1
// output".
std::vector<Parameter> read_parameters(const PtxModule& module, const PtxFunction& function) {
  static const std::regex kParameter(
      R"(\.param\s[^,()]*?\.[busf](8|16|32|64)\s[^,()]*?([\w$]+)\s*(?:\[(\d+)\])?\s*(?=[,)]))");
  const auto declared = fatune::emulate::read_declarations(module, function);
  std::vector<Parameter> parameters;
  const std::string& header = function.header;
  for (std::sregex_iterator at(header.begin(), header.end(), kParameter), end; at != end; ++at) {
    const std::size_t count = (*at)[3].matched ? std::stoul((*at)[3]) : 1;
    parameters.push_back({declared.addresses.at((*at)[2]), std::stoul((*at)[1]) / 8 * count});
  }
  return parameters;
}

}  // namespace

const EmulatedKernel& FakeFunction::emulated() {
  if (kernel == nullptr) {
    if (module->ptx.empty()) {
      throw std::runtime_error(
          "its PTX is unknown: compile with FATUNE_NVRTC=libfake_nvrtc.so, or set "
          "FATUNE_FAKE_KERNELS=never_run");
    }
    const PtxModule ptx = fatune::parse_ptx(module->ptx, name);
    kernel = std::make_unique<EmulatedKernel>(
        EmulatedKernel{fatune::emulate::decode_program(ptx, name, name),
                       read_parameters(ptx, find_function(ptx, name))});
  }
  return *kernel;
}

}  // namespace fake_cuda

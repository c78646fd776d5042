// Any bytes given as PTX either run on the emulator, to an end or to findings, or are answered with
// an error: never a crash, never a run without end.
#include <array>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.hpp"
#include "emulate/decode_program.hpp"
#include "emulate/launch.hpp"
#include "ptx/parse_ptx.hpp"

namespace {

using namespace fatune;
using namespace fatune::emulate;

constexpr std::uint64_t kMostInstructions = 2000;
constexpr std::uint32_t kThreads = 48;

/// The address of 4 KiB, as often as it fits: whatever the kernel takes for a pointer is one.
std::vector<std::uint8_t> pointers(GlobalMemory& memory, std::size_t bytes) {
  Allocation buffer;
  buffer.name = "buffer";
  buffer.bytes.resize(4096);
  const std::uint64_t address = memory.allocate(buffer);
  std::vector<std::uint8_t> parameters(bytes);
  for (std::size_t i = 0; i < bytes; ++i) {
    parameters[i] = static_cast<std::uint8_t>(address >> (8 * (i % 8)));
  }
  return parameters;
}

void run(const Program& program, Timing timing) {
  GlobalMemory memory;
  const std::vector<std::uint8_t> parameters = pointers(memory, program.parameter_bytes);
  LaunchSetup setup;
  setup.block = {kThreads, 1, 1};
  setup.dynamic_smem_bytes = 1024;
  setup.parameters = parameters;
  setup.schedule.timing = timing;
  setup.most_warp_instructions = kMostInstructions;
  const LaunchResult result = run_kernel(program, memory, setup);
  if (!result.finished && result.findings.empty()) {
    std::abort();
  }
  for (const Finding& finding : result.findings.all()) {
    if (finding.instruction >= program.instructions.size() || finding.text.empty()) {
      std::abort();
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  try {
    const PtxModule module = parse_ptx({reinterpret_cast<const char*>(bytes), size}, "fuzz");
    const Program program = decode_program(module, module.functions.front().name, "fuzz");
    for (const Timing timing : {Timing::late, Timing::early, Timing::random}) {
      run(program, timing);
    }
  } catch (const Error& error) {
    if (error.code() != ExitCode::bad_file) {
      std::abort();
    }
  }
  return 0;
}

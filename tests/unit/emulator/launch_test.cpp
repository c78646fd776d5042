#include "emulator/launch.hpp"

#include <array>
#include <cstring>

#include <gtest/gtest.h>

#include "emulator/program.hpp"
#include "emulator/ptx/parse_ptx.hpp"
#include "unit/emulator/emulated_kernel.hpp"

namespace fatune::emulate {
namespace {

/// Adds 1 to a variable of the module, and writes its new value to `out`.
constexpr const char* kCounts =
    ".global .align 4 .u32 launches = 40;\n"
    ".visible .entry k(.param .u64 out)\n{\n.reg .b64 %w<4>; .reg .b32 %r<4>;\n"
    "ld.param.u64 %w1, [out];\nmov.u64 %w2, launches;\nld.global.u32 %r1, [%w2];\n"
    "add.u32 %r1, %r1, 1;\nst.global.u32 [%w2], %r1;\nst.global.u32 [%w1], %r1;\nret;\n}\n";

TEST(Launch, VariablesOfTheModuleKeepWhatEarlierLaunchesWrote) {
  const PtxModule module = parse_ptx(kCounts, "test");
  const Program program = decode_program(module, "k", "test");
  GlobalMemory memory;
  Allocation out;
  out.name = "out";
  out.bytes.resize(4);
  const std::uint64_t address = memory.allocate(out);
  std::array<std::uint8_t, sizeof(address)> parameters{};
  std::memcpy(parameters.data(), &address, sizeof(address));
  LaunchSetup setup;
  setup.parameters = parameters;
  for (std::uint32_t launch = 1; launch <= 3; ++launch) {
    EXPECT_TRUE(run_kernel(program, memory, setup).findings.all().empty());
    std::uint32_t count = 0;
    std::memcpy(&count, memory.at(address).bytes.data(), sizeof(count));
    EXPECT_EQ(count, 40 + launch);
  }
}

constexpr const char* kLoops =
    "mov.u32 %r1, 0;\nLOOP: add.u32 %r1, %r1, 1;\nsetp.lt.u32 %p1, %r1, 1000;\n@%p1 bra LOOP;\n";

TEST(Launch, TheInstructionsOfAllBlocksAreLimited) {
  Trial trial;
  trial.blocks = 5;
  trial.limits.warp_instructions = 20'000;
  EXPECT_TRUE(emulate(kernel_text(kLoops), trial).result.finished);
  trial.blocks = 50;
  const LaunchResult result = emulate(kernel_text(kLoops), trial).result;
  EXPECT_FALSE(result.finished);
  EXPECT_TRUE(result.findings.empty());
  EXPECT_NE(result.limit.find("more than 20000 warp instructions"), std::string::npos)
      << result.limit;
}

TEST(Launch, TheMemoryOfBlocksThatRunAtATimeIsLimited) {
  Trial trial;
  trial.limits.resident_bytes = 1000;
  const LaunchResult result = emulate(kernel_text(kLoops), trial).result;
  EXPECT_FALSE(result.finished);
  EXPECT_NE(result.limit.find("registers and local memory"), std::string::npos) << result.limit;
}

}  // namespace
}  // namespace fatune::emulate

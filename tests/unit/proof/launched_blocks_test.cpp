#include <optional>
#include <string>

#include <gmock/gmock.h>

#include "base/error.hpp"
#include "emulator/program.hpp"
#include "emulator/ptx/parse_ptx.hpp"
#include "gpu/compiler.hpp"
#include "proof/emulated_inputs.hpp"
#include "proof/emulated_launch.hpp"
#include "unit/plan/plan_fixtures.hpp"

// The number of blocks of a launch that are resident at a time, and which of them form a cluster.
namespace fatune {
namespace {

using fixtures::flash;
using fixtures::flash_config;
using fixtures::h200;
using testing::HasSubstr;

EmulatedLaunch launch_of(std::int64_t blocks) {
  EmulatedLaunch launch;
  launch.on.problem = {1, 8, 1, 64, DType::fp16, false};
  launch.geometry.grid = {blocks, 1, 1};
  launch.geometry.arguments.standard = false;
  return launch;
}

/// Runs a kernel without arguments. Returns true if it finishes.
bool finishes(const std::string& ptx, const EmulatedLaunch& launch) {
  const emulate::Program program = emulate::decode_program(parse_ptx(ptx, "k"), "k", "k");
  EmulatedInputs inputs(1);
  return run_emulated(program, launch, inputs.random_tensors(launch.on.problem), {})
      .result.finished;
}

/// Returns the error with which the launch is refused. Returns "it is not" if there is none.
std::string why_refused(const std::string& ptx, const EmulatedLaunch& launch) {
  try {
    (void)finishes(ptx, launch);
    return "it is not";
  } catch (const Error& error) {
    return error.what();
  }
}

/// PTX of a kernel that traps unless its cluster has two blocks.
std::string compiled_for_pairs() {
  auto sources = std::make_shared<SourceBundle>();
  sources->main = {"k.cu",
                   "extern \"C\" __global__ void __cluster_dims__(2, 1, 1) k() {\n"
                   "  unsigned blocks;\n"
                   "  asm volatile(\"mov.u32 %0, %%cluster_nctarank;\" : \"=r\"(blocks));\n"
                   "  if (blocks != 2) { __trap(); }\n}\n"};
  CompileRequest request;
  request.sources = sources;
  request.entry_point = "k";
  request.arch = Arch{90, 'a'};
  const CompileResult compiled = compile_to_ptx(request, nullptr);
  return std::get<Artifact>(compiled).ptx;
}

TEST(LaunchedBlocks, AreClustersAsTheKernelIsCompiledFor) {
  const std::string ptx = compiled_for_pairs();
  EXPECT_TRUE(finishes(ptx, launch_of(4)));
  EmulatedLaunch launch = launch_of(4);
  launch.geometry.cluster = {2, 1, 1};
  EXPECT_TRUE(finishes(ptx, launch));
  EXPECT_THAT(why_refused(ptx, launch_of(3)),
              HasSubstr("clusters of 2 x 1 x 1 blocks do not divide a grid of 3 x 1 x 1"));
  launch.geometry.cluster = {4, 1, 1};
  EXPECT_THAT(why_refused(ptx, launch),
              HasSubstr("compiled for clusters of 2 x 1 x 1 blocks, but launched with 4 x 1 x 1"));
}

TEST(LaunchedBlocks, NeedNoMoreThanCanBeEmulated) {
  const std::string head =
      ".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry k()\n{\n";
  const std::string ptx = head + "ret;\n}\n";
  EXPECT_EQ(why_refused(ptx, launch_of(4096)), "it is not");
  EmulatedLaunch launch = launch_of((std::int64_t{1} << 22) + 1);
  EXPECT_THAT(why_refused(ptx, launch), HasSubstr("the launch has 4194305 blocks"));
  launch = launch_of(1);
  launch.geometry.arguments.buffers.emplace_back().bytes = std::int64_t{1} << 40;
  EXPECT_THAT(why_refused(ptx, launch),
              HasSubstr("1099511627776 bytes in its workspaces and outputs"));
  launch = launch_of(16);
  launch.geometry.block = {1024, 1, 1};
  launch.geometry.cluster = {16, 1, 1};
  EXPECT_THAT(why_refused(head + ".local .b8 x[524288];\nret;\n}\n", launch),
              HasSubstr("bytes in registers and local memory of a cluster"));
}

TEST(LaunchedBlocks, OneThatHasNoRoomIsWaitedForInVain) {
  const std::string ptx =
      ".version 8.0\n.target sm_90a\n.address_size 64\n.global .align 4 .u32 flag;\n"
      ".visible .entry k()\n{\n.reg .pred %p<2>;\n.reg .b32 %r<3>;\n"
      "mov.u32 %r0, %ctaid.x;\nsetp.eq.u32 %p0, %r0, 0;\n@%p0 bra POLL;\n"
      "st.release.gpu.global.u32 [flag], 1;\nret;\n"
      "POLL: ld.acquire.gpu.global.u32 %r1, [flag];\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra POLL;\n"
      "ret;\n}\n";
  EmulatedLaunch launch = launch_of(2);
  EXPECT_TRUE(finishes(ptx, launch));
  launch.resident_blocks = 1;
  EXPECT_FALSE(finishes(ptx, launch));
}

TEST(LaunchedBlocks, HaveTheRoomThatThreadsAndSharedMemoryLeave) {
  const EmulatedLaunch launch = planned_launch(
      {flash(),
       flash_config("(FP16, 128, 128, 64, 4): async+eager+swizzled+load_2_2_2_tiles"),
       {1, 256, 16, 128, DType::fp16, false},
       h200()});
  EXPECT_EQ(launch.resident_blocks, 3 * 132) << "64 KiB of shared memory each";
}

}  // namespace
}  // namespace fatune

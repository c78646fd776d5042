#include <fstream>
#include <memory>
#include <sstream>
#include <variant>

#include <gmock/gmock.h>

#include "gpu/compiler.hpp"
#include "proof/emulate_kernel.hpp"
#include "unit/model/standard_arguments.hpp"

// Three launches on one state of the module reveal kernels that keep state between launches.
namespace fatune {
namespace {

using testing::HasSubstr;

std::string text_of(const std::string& path) {
  std::ifstream in(FATUNE_TESTS_FOLDER "/" + path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

/// The source of a kernel that runs `before` and then the toy family's attention in one block.
/// `before` may return from the kernel. Its variable `number` is the number of earlier launches of
/// the module.
std::string kernel(const std::string& before) {
  return text_of("families/toy_attention/toy_attention.cu") +
         "__device__ int launches;\n__device__ unsigned short last_seen;\n"
         "extern \"C\" __global__ void k(const AttentionForwardArgs args) {\n"
         "  const int number = launches;\n"
         "  const auto* gQ = static_cast<const unsigned short*>(args.q);\n"
         "  auto* gO = static_cast<unsigned short*>(args.o);\n"
         "  const unsigned short seen = last_seen;\n"
         "  __syncthreads();\n" +
         before +
         "  for (int row = threadIdx.x / 32; row < args.seq_len; row += kWarps) {\n"
         "    attend(args, 0, row);\n  }\n}\n";
}

const std::string kCounts = "  if (threadIdx.x == 0) launches = number + 1;\n";

std::shared_ptr<const SourceBundle> sources_of(const std::string& before) {
  auto sources = std::make_shared<SourceBundle>();
  sources->main = {"k.cu", kernel(before)};
  sources->headers = {{"common/attention_args.h", text_of("../kernels/common/attention_args.h")}};
  return sources;
}

EmulatedConfig emulated(const std::string& before) {
  CompileRequest request;
  request.sources = sources_of(before);
  request.options = {"--std=c++17", "-default-device"};
  request.defines = {{"FATUNE_d_head", "64"},
                     {"FATUNE_dtype", "5"},
                     {"FATUNE_CAUSAL", "0"},
                     {"FATUNE_UNROLL", "1"},
                     {"FATUNE_BLOCK_ROWS", "32"}};
  request.entry_point = "k";
  request.arch = Arch{90};
  const CompileResult compiled = compile_to_ptx(request, nullptr);
  EXPECT_TRUE(std::holds_alternative<Artifact>(compiled));
  EmulatedLaunch launch;
  launch.on.problem = {1, 32, 1, 64, DType::fp16, false};
  launch.geometry.block = {256, 1, 1};
  launch.geometry.arguments = attention_forward_arguments(launch.on.problem);
  EmulationSettings settings;
  settings.schedules = {{"late", {}}, random_schedule(2)};
  EmulatedInputs inputs(1);
  return *emulate_kernel({std::get<Artifact>(compiled), *request.sources, "k", launch}, settings,
                         inputs);
}

TEST(Launches, AKernelThatOnlyCountsThemIsRight) {
  const EmulatedConfig row = emulated(kCounts);
  EXPECT_EQ(row.outcome, OutcomeKind::right) << row.detail;
  EXPECT_EQ(row.runs, 2 * std::ssize(input_kinds(row.problem))) << "no more launches";
}

TEST(Launches, AKernelThatDoesNothingAfterItsFirstIsFlagged) {
  const EmulatedConfig row = emulated(kCounts + "  if (number > 0) return;\n");
  EXPECT_EQ(row.outcome, OutcomeKind::flagged);
  EXPECT_THAT(row.detail, HasSubstr("launch_dependent: the output is right in the first launch, "
                                    "wrong in launch 2: the kernel keeps state"));
}

TEST(Launches, AKernelThatKnowsItsInputsIsFlagged) {
  const EmulatedConfig row =
      emulated("  if (seen == gQ[0]) return;\n  if (threadIdx.x == 0) last_seen = gQ[0];\n");
  EXPECT_EQ(row.outcome, OutcomeKind::flagged);
  EXPECT_THAT(row.detail, HasSubstr("wrong in launch 2"));
}

TEST(Launches, AKernelThatIsRightInEveryOtherIsFlagged) {
  for (const char* const parity : {"0", "1"}) {
    const EmulatedConfig row =
        emulated(kCounts + "  if (number % 2 == " + parity +
                 ") {\n    if (threadIdx.x < 64) gO[threadIdx.x] = 0;\n    return;\n  }\n");
    EXPECT_EQ(row.outcome, OutcomeKind::flagged) << parity;
    EXPECT_THAT(row.detail, HasSubstr("launch 2")) << parity;
  }
}

TEST(Launches, AKernelThatHangsInItsThirdIsFlagged) {
  const EmulatedConfig row = emulated(
      kCounts + "  while (number == 2 && *static_cast<volatile int*>(&launches) < 9) {}\n");
  EXPECT_EQ(row.outcome, OutcomeKind::flagged);
  EXPECT_THAT(row.detail, HasSubstr("until launches + 0 bytes changes"));
}

}  // namespace
}  // namespace fatune

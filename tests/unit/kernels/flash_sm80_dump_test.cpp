// flash_sm80 compiled for 'fatune debug'. The values it writes are compared on a GPU (tests/gpu).
#include <string>
#include <string_view>
#include <variant>

#include <gmock/gmock.h>

#include "base/file_tree.hpp"
#include "gpu/compiler.hpp"
#include "model/device_limits.hpp"
#include "plan/config_text.hpp"
#include "plan/family.hpp"
#include "plan/planner.hpp"

namespace fatune {
namespace {

using testing::HasSubstr;
using testing::Not;

const FileTree& dump_tree() {
  static const FileTree files;
  return files;
}

const Family& dumped_family() {
  static const Family loaded = load_family(dump_tree(), "flash_sm80");
  return loaded;
}

struct DumpCase {
  const char* config;
  DType dtype;
  std::int64_t d_head;
  std::int64_t seq_len;
  bool causal;
  Arch arch;
};

Artifact compile_case(const DumpCase& c, bool dump) {
  const auto make_request = dump ? dump_request : compile_request;
  const DeviceLimits limits = load_device_limits(dump_tree(), c.arch);
  const Problem problem{1, c.seq_len, 1, c.d_head, c.dtype, c.causal};
  const Config config = parse_config(dumped_family(), c.config);
  auto result = compile(make_request({dumped_family(), config, problem, limits}), nullptr, true);
  const auto* failed = std::get_if<CompileFailed>(&result);
  EXPECT_EQ(failed, nullptr) << failed->log;
  return failed == nullptr ? std::get<Artifact>(std::move(result)) : Artifact{};
}

class FlashSm80Dump : public testing::TestWithParam<DumpCase> {};

// S and P are stored as rows of fp32. The kernel has no other fp32 stores to global memory.
TEST_P(FlashSm80Dump, CompilesAndWritesToGlobalMemory) {
  const std::string ptx = compile_case(GetParam(), true).ptx;
  EXPECT_THAT(ptx, HasSubstr("st.global.f32"));
}

INSTANTIATE_TEST_SUITE_P(
    Sample, FlashSm80Dump,
    testing::Values(DumpCase{"(FP16,64,64,64,4): async+eager+swizzled+load_0_2_2_tiles+opt_softmax",
                             DType::fp16, 64, 256, false, Arch{80, '\0'}},
                    DumpCase{"(BF16,128,128,32,8): load_2_2_2_tiles+buffer", DType::bf16, 128, 250,
                             true, Arch{90, 'a'}}));

TEST(FlashSm80DumpOff, NothingOfItIsLeft) {
  const std::string ptx = compile_case({"(FP16,64,64,64,4): async+swizzled+load_2_2_2_tiles",
                                        DType::fp16, 64, 256, false, Arch{90, '\0'}},
                                       false)
                              .ptx;
  EXPECT_THAT(ptx, Not(HasSubstr("st.global.f32")));
  EXPECT_THAT(ptx, HasSubstr("[48]")) << "the argument is an AttentionForwardArgs";
}

// family.json cannot refer to the kernel's constant, so it repeats the value.
TEST(FlashSm80DumpOff, TheSlackOfMIsTheKernels) {
  const Config config = parse_config(
      dumped_family(), "(FP16,64,64,64,4): async+swizzled+load_2_2_2_tiles+opt_softmax");
  EXPECT_THAT(dump_tree().read("kernels/flash_sm80/softmax.cuh"),
              HasSubstr("kLazyRescaleLog2 = 8.0f;"));
  EXPECT_EQ(block_tiles(dumped_family(), config)->reference_slack_log2, 8.0);
}

}  // namespace
}  // namespace fatune

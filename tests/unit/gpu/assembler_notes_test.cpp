#include "gpu/nvrtc_compile.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "gpu/compiler.hpp"
#include "unit/gpu/requests.hpp"

namespace fatune {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

const std::vector<std::string> kKernels{"k", "other"};

std::vector<AssemblerNote> read(const std::string& line) {
  return read_assembler_notes("ptxas info    : 0 bytes gmem\n" + line + "\nptxas info    : more\n",
                              "k", kKernels);
}

TEST(AssemblerNotes, OfLostSpeedAreReadWithTheirCode) {
  const auto notes = read(
      "ptxas info    : (C7512) Potential Performance Loss: wgmma.mma_async instructions are "
      "serialized due to insufficient register resources for the function 'k'");
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_EQ(notes[0].code, "C7512");
  EXPECT_EQ(notes[0].text,
            "wgmma.mma_async instructions are serialized due to insufficient register resources");
  EXPECT_TRUE(notes[0].loses_speed);
}

TEST(AssemblerNotes, OfIgnoredRegisterCountsNameNoFunction) {
  const auto notes = read(
      "ptxas info    : (C7508) Potential Performance Loss: 'setmaxnreg' ignored to maintain "
      "minimum register requirements.");
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_EQ(notes[0].text, "'setmaxnreg' ignored to maintain minimum register requirements.");
  EXPECT_TRUE(notes[0].loses_speed);
}

TEST(AssemblerNotes, OfInjectedWaitsAreNoLoss) {
  const auto notes = read(
      "ptxas info    : (C7517) warpgroup.wait is injected in around line 7 by compiler to "
      "allow use of registers defined by GMMA in function 'k'");
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_EQ(notes[0].code, "C7517");
  EXPECT_FALSE(notes[0].loses_speed);
  EXPECT_THAT(notes[0].text, testing::EndsWith("defined by GMMA"));
}

TEST(AssemblerNotes, OfAnotherKernelAreLeftOutOfADeviceFunctionKept) {
  const std::string start = "ptxas info    : (C7510) Potential Performance Loss: wgmma in the ";
  EXPECT_THAT(read(start + "function 'other'"), IsEmpty());
  EXPECT_EQ(read(start + "function 'helper'").size(), 1U);
}

TEST(AssemblerNotes, AreNoOtherLines) {
  EXPECT_THAT(read("ptxas info    : (C7600) something else"), IsEmpty());
  EXPECT_THAT(read("kernel.cu(3): warning : (C7510) wgmma"), IsEmpty());
  EXPECT_THAT(read("ptxas info    : (Cx) wgmma"), IsEmpty());
  EXPECT_THAT(read("ptxas info    : (C7510"), IsEmpty());
  EXPECT_THAT(read("ptxas info    : (C7510) "), IsEmpty());
}

/// A wgmma product. With TOUCH_FIRST, its sums are modified before the wait; with WAIT_FIRST, they
/// are not. With CALLED, a function that is not inlined starts the product.
constexpr const char* kProduct = R"(
#ifdef CALLED
__device__ __noinline__
#else
__device__ __forceinline__
#endif
void multiply(float (&r)[4], const unsigned long long* d) {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  asm volatile("{ .reg .pred p; setp.ne.b32 p, 1, 0;"
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %4, %5, p, 1, 1, 0, 0; }"
      : "+f"(r[0]), "+f"(r[1]), "+f"(r[2]), "+f"(r[3]) : "l"(d[0]), "l"(d[1]) : "memory");
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
extern "C" __global__ void __launch_bounds__(128) product(const unsigned long long* d, float* out) {
  float r[4];
  for (int i = 0; i < 4; i++) r[i] = out[i];
  multiply(r, d);
#ifdef TOUCH_FIRST
  r[0] *= 2.0f;
#endif
  asm volatile("wgmma.wait_group.sync.aligned 0;"
      : "+f"(r[0]), "+f"(r[1]), "+f"(r[2]), "+f"(r[3]) :: "memory");
  for (int i = 0; i < 4; i++) out[threadIdx.x * 4 + i] = r[i];
}
)";

ResourceFacts facts_of(const CompileRequest& request) {
  const CompileResult result = compile(request);
  const auto* failed = std::get_if<CompileFailed>(&result);
  return failed == nullptr ? std::get<Artifact>(result).facts
                           : throw std::runtime_error(failed->log);
}

ResourceFacts facts_of_product(const char* how) {
  CompileRequest request = request_for(kProduct, "product");
  request.defines = {{how, "1"}};
  return facts_of(request);
}

TEST(AssemblerNotes, AreFoundWhereAProductCrossesACall) {
  const std::vector<AssemblerNote> notes = facts_of_product("CALLED").notes;
  EXPECT_THAT(notes_text(notes), HasSubstr("wgmma.mma_async instructions are serialized"));
  EXPECT_TRUE(std::any_of(notes.begin(), notes.end(),
                          [](const AssemblerNote& note) { return note.loses_speed; }));
}

TEST(AssemblerNotes, AreFoundWhereSumsAreTouchedTooEarly) {
  const ResourceFacts facts = facts_of_product("TOUCH_FIRST");
  ASSERT_FALSE(facts.notes.empty());
  EXPECT_FALSE(facts.notes[0].loses_speed);
  EXPECT_THAT(facts.notes[0].text, testing::StartsWith("warpgroup.wait is injected"));
}

TEST(AssemblerNotes, AreNotFoundInASoundKernel) {
  EXPECT_THAT(notes_text(facts_of_product("WAIT_FIRST").notes), IsEmpty());
}

TEST(AssemblerNotes, AreFoundWhereSetmaxnregIsIgnored) {
  const ResourceFacts facts =
      facts_of(request_for("extern \"C\" __global__ void k(int* p) {"
                           " asm volatile(\"setmaxnreg.dec.sync.aligned.u32 24;\"); *p = 1; }",
                           "k"));
  ASSERT_FALSE(facts.notes.empty());
  EXPECT_TRUE(facts.notes[0].loses_speed);
  EXPECT_THAT(facts.notes[0].text, HasSubstr("setmaxnreg"));
}

}  // namespace
}  // namespace fatune

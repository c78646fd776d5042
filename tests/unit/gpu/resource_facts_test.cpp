#include "gpu/nvrtc_compile.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "gpu/compiler.hpp"
#include "unit/gpu/requests.hpp"

namespace fatune {
namespace {

/// Three kernels in one module. The first has 1 KiB of shared memory, the second has 128 live
/// values in 64 or 32 registers, and the third calls a function that is not inlined.
constexpr const char* kThreeKernels = R"(
extern "C" __global__ void with_smem(float* p) {
  __shared__ float s[256];
  s[threadIdx.x] = p[threadIdx.x];
  __syncthreads();
  p[threadIdx.x] = s[threadIdx.x ^ 1];
}
extern "C" __global__ void __launch_bounds__(1024, MIN_BLOCKS) spilling(const float* a, float* p) {
  float r[128];
  #pragma unroll
  for (int i = 0; i < 128; i++) r[i] = a[i * 1024 + threadIdx.x];
  __syncthreads();
  #pragma unroll
  for (int j = 0; j < 4; j++)
    #pragma unroll
    for (int i = 0; i < 128; i++) r[i] = r[i] * r[(i * 7 + j) & 127];
  #pragma unroll
  for (int i = 0; i < 128; i++) p[i * 1024 + threadIdx.x] = r[i];
}
__device__ __noinline__ int helper(int* x, int i) {
  volatile int local[16];
  local[i & 15] = x[i];
  return local[(i * 3) & 15];
}
extern "C" __global__ void calling(int* x) { *x = helper(x, *x); }
)";

Artifact compile_entry(const std::string& entry, const char* min_blocks = "2") {
  CompileRequest request = request_for(kThreeKernels, entry);
  request.defines = {{"MIN_BLOCKS", min_blocks}};
  CompileResult result = compile(request);
  if (const auto* failed = std::get_if<CompileFailed>(&result)) {
    throw std::runtime_error(failed->log);
  }
  return std::get<Artifact>(result);
}

TEST(ResourceFacts, HaveTheStaticSharedMemory) {
  const ResourceFacts facts = compile_entry("with_smem").facts;
  EXPECT_EQ(facts.static_smem_bytes, 1024);
  EXPECT_GT(facts.registers_per_thread, 0);
  EXPECT_LT(facts.registers_per_thread, 32);
  EXPECT_EQ(facts.spill_store_bytes, 0);
  EXPECT_EQ(facts.local_bytes, 0);
  EXPECT_GT(facts.code_bytes, 0);
  EXPECT_GT(facts.constant_bytes, 0);  // the parameters live there
}

TEST(ResourceFacts, HaveTheSpillsOfTooFewRegisters) {
  const ResourceFacts facts = compile_entry("spilling").facts;
  EXPECT_EQ(facts.registers_per_thread, 32);  // 65536 / (1024 * 2)
  EXPECT_GT(facts.spill_store_bytes, 0);
  EXPECT_GT(facts.spill_load_bytes, 0);
  EXPECT_GT(facts.local_bytes, 0);
  EXPECT_EQ(facts.static_smem_bytes, 0);
}

TEST(ResourceFacts, FollowTheLaunchBounds) {
  const ResourceFacts crowded = compile_entry("spilling", "2").facts;
  const ResourceFacts roomy = compile_entry("spilling", "1").facts;
  EXPECT_EQ(roomy.registers_per_thread, 64);  // 65536 / 1024
  EXPECT_LT(roomy.spill_store_bytes, crowded.spill_store_bytes);
  EXPECT_LT(roomy.spill_load_bytes, crowded.spill_load_bytes);
}

TEST(ResourceFacts, AreThoseOfTheEntryNotOfItsNeighbours) {
  const ResourceFacts smem = compile_entry("with_smem").facts;
  const ResourceFacts spilling = compile_entry("spilling").facts;
  EXPECT_GT(spilling.code_bytes, smem.code_bytes);
  const ResourceFacts calling = compile_entry("calling").facts;
  EXPECT_EQ(calling.static_smem_bytes, 0);
  EXPECT_EQ(calling.spill_store_bytes, 0);
}

// A log of ptxas, with reports on two kernels and other lines between them.
constexpr std::string_view kReport =
    "kernel.cu(3): warning #177-D: variable \"x\" was declared but never referenced\n"
    "ptxas info    : 0 bytes gmem\n"
    "ptxas info    : Compiling entry function 'k' for 'sm_90a'\n"
    "ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async instructions\n"
    "ptxas info    : Function properties for helper\n"
    "ptxas         .     8 bytes stack frame, 9 bytes spill stores, 10 bytes spill loads\n"
    "ptxas info    : Function properties for k\n"
    "ptxas         .     936 bytes stack frame, 1508 bytes spill stores, 1796 bytes spill loads\n"
    "ptxas info    : Used 168 registers, used 1 barriers, 936 bytes cumulative stack size, 2048 "
    "bytes smem\n"
    "ptxas info    : Compiling entry function 'kk' for 'sm_90a'\n"
    "ptxas info    : Function properties for kk\n"
    "ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
    "ptxas info    : Used 10 registers, used 1 barriers\n";

const std::vector<char>& cubin_of_k() {
  static const std::vector<char> cubin = std::get<Artifact>(compile(small_request())).cubin;
  return cubin;
}

TEST(ResourceFacts, ReadTheReportLineByLine) {
  const ResourceFacts facts = read_resource_facts(kReport, cubin_of_k(), "k");
  EXPECT_EQ(facts.registers_per_thread, 168);
  EXPECT_EQ(facts.local_bytes, 936);
  EXPECT_EQ(facts.spill_store_bytes, 1508);
  EXPECT_EQ(facts.spill_load_bytes, 1796);
  EXPECT_EQ(facts.static_smem_bytes, 2048);
}

TEST(ResourceFacts, NeedAReportOfTheKernel) {
  EXPECT_THROW(static_cast<void>(read_resource_facts("", cubin_of_k(), "k")), Error);
  EXPECT_THROW(static_cast<void>(read_resource_facts(kReport.substr(0, 300), cubin_of_k(), "k")),
               Error);
}

TEST(ResourceFacts, NameTheKernelsThatThereAre) {
  try {
    static_cast<void>(read_resource_facts(kReport, cubin_of_k(), "kk"));
    FAIL() << "found";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("no kernel 'kk'; it has: k"));
  }
}

}  // namespace
}  // namespace fatune

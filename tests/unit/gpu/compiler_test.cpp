#include "gpu/compiler.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <set>

#include "base/error.hpp"
#include "gpu/cubin_cache.hpp"
#include "unit/gpu/requests.hpp"

namespace fatune {
namespace {

using testing::HasSubstr;

std::string failure_log(const CompileRequest& request) {
  const CompileResult result = compile(request);
  const auto* failed = std::get_if<CompileFailed>(&result);
  return failed == nullptr ? "it compiled" : failed->log;
}

TEST(Compiler, MakesACubinWithItsFacts) {
  const Artifact artifact = std::get<Artifact>(compile(small_request()));
  EXPECT_EQ(std::string(artifact.cubin.data(), 4), "\177ELF");
  EXPECT_EQ(artifact.lowered_name, "k");
  EXPECT_EQ(artifact.key, artifact_key(small_request()));
  EXPECT_EQ(artifact.toolchain, toolchain_name());
  EXPECT_GT(artifact.facts.registers_per_thread, 0);
  EXPECT_GT(artifact.compile_ms, 0.0);
  EXPECT_FALSE(artifact.from_cache);
  EXPECT_THAT(artifact.log, HasSubstr("ptxas info"));
  EXPECT_TRUE(artifact.ptx.empty());
}

TEST(Compiler, KeepsPtxWhenAsked) {
  const Artifact artifact = std::get<Artifact>(compile(small_request(), nullptr, true));
  EXPECT_THAT(artifact.ptx, HasSubstr(".entry k"));
}

TEST(Compiler, MakesTheSamePtxWithoutMachineCode) {
  const CompileRequest request = with_line_info(small_request());
  const Artifact alone = std::get<Artifact>(compile_to_ptx(request));
  EXPECT_EQ(alone.ptx, std::get<Artifact>(compile(request, nullptr, true)).ptx);
  EXPECT_TRUE(alone.cubin.empty());
  EXPECT_EQ(alone.lowered_name, "k");
  EXPECT_EQ(alone.facts.registers_per_thread, 0);
}

TEST(Compiler, PtxAloneHasACacheEntryOfItsOwn) {
  TemporaryFolder folder;
  CubinCache cache({folder.path()});
  const Artifact alone = std::get<Artifact>(compile_to_ptx(small_request(), &cache));
  EXPECT_NE(alone.key, artifact_key(small_request()));
  EXPECT_FALSE(alone.from_cache);
  const Artifact again = std::get<Artifact>(compile_to_ptx(small_request(), &cache));
  EXPECT_TRUE(again.from_cache);
  EXPECT_EQ(again.ptx, alone.ptx);
  EXPECT_FALSE(std::get<Artifact>(compile(small_request(), &cache)).cubin.empty());
}

TEST(Compiler, InstantiatesATemplateWithDefinesAndHeaders) {
  CompileRequest request = request_for("", "ns::kernel<kTile, ns::Config{2, true}>");
  request.sources = std::make_shared<SourceBundle>(
      SourceBundle{{"kernel.cu",
                    "#include \"config.cuh\"\n"
                    "namespace ns { template <int N, Config c> __global__ void kernel(int* x) {\n"
                    "  __shared__ int s[N]; s[threadIdx.x] = c.a; __syncthreads();\n"
                    "  *x = s[x[0]] + c.b; } }\n"
                    "constexpr int kTile = TILE;\n"},
                   {{"config.cuh", "namespace ns { struct Config { int a; bool b; }; }\n"}}});
  request.entry_is_template = true;
  request.options = {"--std=c++20"};
  request.defines = {{"TILE", "64"}};
  const CompileResult result = compile(request);
  ASSERT_TRUE(std::holds_alternative<Artifact>(result)) << std::get<CompileFailed>(result).log;
  const Artifact& artifact = std::get<Artifact>(result);
  EXPECT_THAT(artifact.lowered_name, testing::StartsWith("_ZN2ns6kernelILi64E"));
  EXPECT_EQ(artifact.facts.static_smem_bytes, 256);
}

TEST(Compiler, CompilesForEachSupportedArchitecture) {
  for (const Arch arch : {Arch{80}, Arch{86}, Arch{89}, Arch{90}, Arch{90, 'a'}}) {
    CompileRequest request = small_request();
    request.arch = arch;
    EXPECT_TRUE(std::holds_alternative<Artifact>(compile(request))) << arch_name(arch);
    EXPECT_NO_THROW(check_arch_supported(arch));
  }
}

TEST(Compiler, SaysWhatItCompilesForWhenItCannot) {
  try {
    check_arch_supported({81});
    FAIL() << "sm_81 was accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    EXPECT_THAT(error.what(), HasSubstr("does not compile for sm_81"));
    EXPECT_THAT(error.what(), HasSubstr("sm_90"));
  }
}

TEST(Compiler, KeepsTheFullLogOfAFailure) {
  const std::string log =
      failure_log(request_for("__global__ void k() {\n  first = 1;\n  second = 2;\n}", "k"));
  EXPECT_THAT(log, HasSubstr("kernel.cu(2): error"));
  EXPECT_THAT(log, HasSubstr("first"));
  EXPECT_THAT(log, HasSubstr("second"));
}

TEST(Compiler, KeepsTheAssemblersReason) {
  const std::string log = failure_log(
      request_for("extern \"C\" __global__ void k(char* p) { __shared__ char s[300000];\n"
                  "  s[threadIdx.x] = p[0]; __syncthreads(); p[1] = s[p[2]]; }",
                  "k"));
  EXPECT_THAT(log, HasSubstr("too much shared data"));
}

TEST(Compiler, ReportsEveryOtherFailureAsData) {
  CompileRequest bad_option = small_request();
  bad_option.options = {"--no-such-option"};
  EXPECT_THAT(failure_log(bad_option), HasSubstr("no-such-option"));

  CompileRequest missing_header = request_for("#include \"nowhere.cuh\"\n", "k");
  EXPECT_THAT(failure_log(missing_header), HasSubstr("nowhere.cuh"));

  CompileRequest bad_arch = small_request();
  bad_arch.arch = {81};
  EXPECT_THAT(failure_log(bad_arch), HasSubstr("gpu-architecture"));

  CompileRequest missing_entry = small_request();
  missing_entry.entry_point = "other";
  EXPECT_THAT(failure_log(missing_entry), HasSubstr("no kernel 'other'; it has: k"));

  CompileRequest missing_template = small_request();
  missing_template.entry_point = "other<1>";
  missing_template.entry_is_template = true;
  EXPECT_THAT(failure_log(missing_template), HasSubstr("other"));
}

TEST(Compiler, KeysDifferWithEverythingThatDecidesTheCode) {
  const CompileRequest base = small_request();
  std::vector<CompileRequest> variants{base, small_request(1)};
  const auto vary = [&](auto change) {
    CompileRequest variant = base;
    variant.sources = std::make_shared<SourceBundle>(*base.sources);
    change(variant, const_cast<SourceBundle&>(*variant.sources));
    variants.push_back(variant);
  };
  using Request = CompileRequest;
  using Bundle = SourceBundle;
  vary([](Request& r, Bundle&) { r.options = {"--use_fast_math"}; });
  vary([](Request& r, Bundle&) { r.options = {"--use_fast", "_math"}; });
  vary([](Request& r, Bundle&) { r.defines = {{"A", "1"}}; });
  vary([](Request& r, Bundle&) { r.defines = {{"A", "2"}}; });
  vary([](Request& r, Bundle&) { r.entry_point = "other"; });
  vary([](Request& r, Bundle&) { r.entry_is_template = true; });
  vary([](Request& r, Bundle&) { r.arch = {90}; });
  vary([](Request&, Bundle& b) { b.main.name = "other.cu"; });
  vary([](Request&, Bundle& b) { b.headers = {{"a.cuh", "x"}}; });
  vary([](Request&, Bundle& b) { b.headers = {{"b.cuh", "x"}}; });
  vary([](Request&, Bundle& b) { b.headers = {{"a.cuh", "y"}}; });
  std::set<std::string> keys;
  for (const CompileRequest& variant : variants) {
    keys.insert(artifact_key(variant));
  }
  EXPECT_EQ(keys.size(), variants.size());
  EXPECT_EQ(keys.begin()->size(), 64U);
}

TEST(Compiler, KeysDoNotDependOnTheLabel) {
  CompileRequest relabelled = small_request();
  relabelled.label = "another name";
  EXPECT_EQ(artifact_key(relabelled), artifact_key(small_request()));
}

TEST(Compiler, TakesFromTheCacheWhatItCompiledBefore) {
  const TemporaryFolder folder;
  CubinCache cache({folder.path()});
  const Artifact cold = std::get<Artifact>(compile(small_request(), &cache));
  const Artifact warm = std::get<Artifact>(compile(small_request(), &cache));
  EXPECT_FALSE(cold.from_cache);
  EXPECT_TRUE(warm.from_cache);
  EXPECT_EQ(warm.cubin, cold.cubin);
  EXPECT_EQ(warm.log, cold.log);
  EXPECT_EQ(warm.compile_ms, cold.compile_ms);
  EXPECT_EQ(warm.facts.registers_per_thread, cold.facts.registers_per_thread);
}

/// A kernel with as much code as a small attention kernel: a thousand unrolled operations.
CompileRequest large_request() {
  return request_for(R"(
extern "C" __global__ void k(const float* a, float* p) {
  float r[64];
  #pragma unroll
  for (int i = 0; i < 64; i++) r[i] = a[i * 1024 + threadIdx.x];
  #pragma unroll
  for (int j = 0; j < 8; j++)
    #pragma unroll
    for (int i = 0; i < 64; i++) r[i] = r[i] * r[(i * 7 + j) & 63] + exp2f(r[(i + j) & 63]);
  #pragma unroll
  for (int i = 0; i < 64; i++) p[i * 1024 + threadIdx.x] = r[i];
})",
                     "k");
}

double compile_wall_ms(CubinCache& cache) {
  const auto start = std::chrono::steady_clock::now();
  EXPECT_TRUE(std::holds_alternative<Artifact>(compile(large_request(), &cache)));
  const std::chrono::duration<double, std::milli> wall = std::chrono::steady_clock::now() - start;
  return wall.count();
}

TEST(Compiler, IsTwentyTimesFasterFromTheCache) {
  const TemporaryFolder folder;
  CubinCache cache({folder.path()});
  const double cold_ms = compile_wall_ms(cache);
  double warm_ms = compile_wall_ms(cache);
  for (int i = 0; i < 4; ++i) {  // the least of five, because other work only adds time
    warm_ms = std::min(warm_ms, compile_wall_ms(cache));
  }
  EXPECT_LT(20 * warm_ms, cold_ms);
}

TEST(Compiler, CompilesAgainWhereTheCacheHasNoPtx) {
  const TemporaryFolder folder;
  CubinCache cache({folder.path()});
  static_cast<void>(compile(small_request(), &cache));
  EXPECT_FALSE(std::get<Artifact>(compile(small_request(), &cache, true)).from_cache);
  const Artifact warm = std::get<Artifact>(compile(small_request(), &cache, true));
  EXPECT_TRUE(warm.from_cache);
  EXPECT_FALSE(warm.ptx.empty());
}

TEST(Compiler, DoesNotCacheFailures) {
  const TemporaryFolder folder;
  CubinCache cache({folder.path()});
  static_cast<void>(compile(request_for("nonsense", "k"), &cache));
  EXPECT_EQ(cache.contents().entries, 0);
}

}  // namespace
}  // namespace fatune

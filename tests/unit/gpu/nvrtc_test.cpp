#include "gpu/nvrtc.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace fatune::gpu {
namespace {

using testing::Contains;
using testing::HasSubstr;

const std::vector<std::string> kOptions{"--gpu-architecture=sm_90a"};

SourceBundle with_header(const std::string& text) {
  return {{"main.cu", text}, {{"common/value.cuh", "#define VALUE 42\n"}}};
}

TEST(Nvrtc, SaysItsVersionAndArchitectures) {
  EXPECT_GE(nvrtc_version().major, 12);
  EXPECT_THAT(nvrtc_version_text(), testing::MatchesRegex("[0-9]+\\.[0-9]+"));
  const std::vector<int> sms = nvrtc_supported_sms();
  EXPECT_THAT(sms, Contains(80));
  EXPECT_THAT(sms, Contains(90));
  EXPECT_TRUE(std::is_sorted(sms.begin(), sms.end()));
}

TEST(Nvrtc, CompilesWithHeadersFromMemory) {
  Program program(
      with_header("#include \"common/value.cuh\"\n"
                  "extern \"C\" __global__ void k(int* x) { *x = VALUE; }"));
  ASSERT_TRUE(program.compile(kOptions)) << program.log();
  const std::vector<char> cubin = program.cubin();
  EXPECT_EQ(std::string(cubin.data(), 4), "\177ELF");
  EXPECT_THAT(program.ptx(), HasSubstr(".target sm_90a"));
  EXPECT_THAT(program.ptx(), HasSubstr("42"));
}

TEST(Nvrtc, KeepsTheLogOfAFailure) {
  Program program(with_header("__global__ void k() { undeclared = 1; }"));
  EXPECT_FALSE(program.compile(kOptions));
  EXPECT_THAT(program.log(), HasSubstr("main.cu(1): error"));
  EXPECT_THAT(program.log(), HasSubstr("undeclared"));
}

TEST(Nvrtc, LowersTheNamesOfInstantiations) {
  Program program(with_header("template <int N> __global__ void k(int* x) { *x = N; }"));
  program.add_name_expression("k<7>");
  program.add_name_expression("k<8>");
  ASSERT_TRUE(program.compile(kOptions)) << program.log();
  EXPECT_EQ(program.lowered_name("k<7>"), "_Z1kILi7EEvPi");
  EXPECT_EQ(program.lowered_name("k<8>"), "_Z1kILi8EEvPi");
  EXPECT_THROW(static_cast<void>(program.lowered_name("k<9>")), NvrtcError);
}

TEST(Nvrtc, ThrowsForAnOptionItDoesNotKnow) {
  Program program(with_header(""));
  try {
    static_cast<void>(program.compile({"--no-such-option"}));
    FAIL() << "it was accepted";
  } catch (const NvrtcError& error) {
    EXPECT_THAT(error.what(), HasSubstr("nvrtcCompileProgram"));
    EXPECT_THAT(error.what(), HasSubstr("no-such-option"));
  }
}

}  // namespace
}  // namespace fatune::gpu

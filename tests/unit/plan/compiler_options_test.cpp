#include "plan/source_bundle.hpp"

#include <gmock/gmock.h>

#include <fstream>
#include <iterator>
#include <sstream>

namespace fatune {
namespace {

using ::testing::HasSubstr;

TEST(CompilerOptions, ThatNameNoFileArePlain) {
  for (const char* option :
       {"--std=c++20", "-std=c++17", "--use_fast_math", "-default-device", "--maxrregcount=168",
        "--split-compile=1", "-split-compile=16", "--diag-suppress=177,550", "-Xptxas=-O3",
        "--ptxas-options=--maxrregcount=64", "--ptxas-options=-dlcm=cg", "--ptxas-options=-v",
        "--frandom-seed=a_1", "-G", "--fmad=false"}) {
    EXPECT_TRUE(is_plain_compiler_option(option)) << option;
  }
}

// Each of these was passed to NVRTC once. The first group writes or reads files.
TEST(CompilerOptions, OfEveryOtherKindAreNot) {
  for (const char* option :
       {"--time=/tmp/x", "-time=/tmp/x", "--create-pch=p", "--use-pch=p", "--pch", "-pch",
        "--pch-dir=/tmp", "--fdevice-time-trace=p", "-fdevice-time-trace=p", "--pre-include=/x",
        "--ptxas-options=--options-file=/x", "--ptxas-options=-optf=/x",
        "--ptxas-options=--output-file=/x",
        // the value would be the next option
        "--ptxas-options", "-Xptxas", "--std", "--maxrregcount",
        // bounds and forms
        "--split-compile=0", "--split-compile=17", "--split-compile=1000000",
        "--split-compile=", "--split-compile=+1", "--std=c++17 --time=/x", "--std=c++17|c++20",
        "--std=", "--maxrregcount=64,--time=/x", "--diag-suppress=1 -pch", "--frandom-seed=/x",
        "-G=1", "--ptxas-options=-v,-o,/x",
        "--ptxas-options=", "--ptxas-options=--ptxas-options=-v",
        "--use_fast_math=", "--std|-std=c++17", "", "-", "--", "kernel.cu", "@file", "-I/etc",
        "-include=/x", "-D", "-DA=1", "-arch=sm_75", "--cl-version=1"}) {
    EXPECT_FALSE(is_plain_compiler_option(option)) << option;
  }
}

TEST(CompilerOptions, AreNamedForThoseWhoLookForThem) {
  EXPECT_EQ(plain_compiler_options("-split-compile=99"), "--split-compile=1..16");
  EXPECT_EQ(plain_compiler_options("-G=1"), "--device-debug without a value");
  EXPECT_THAT(plain_compiler_options("--time=x"), HasSubstr("--std, --use_fast_math, "));
  EXPECT_THAT(plain_compiler_options("-Xptxas=-o"),
              HasSubstr("--ptxas-options= one of --verbose, --opt-level, "));
}

TEST(CompilerOptions, AreInTheDocument) {
  std::ifstream file(FATUNE_TESTS_FOLDER "/../docs/bring-your-own-kernel.md");
  const std::string document{std::istreambuf_iterator<char>(file), {}};
  std::istringstream words(plain_compiler_options("") + " " + plain_compiler_options("-Xptxas="));
  for (std::string word; words >> word;) {
    if (word.starts_with('-')) {
      word = word.substr(0, word.find_first_of(",="));
      EXPECT_THAT(document, HasSubstr("`" + word + "`"));
    }
  }
}

}  // namespace
}  // namespace fatune

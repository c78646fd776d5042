#include "gpu/nvrtc_compile.hpp"

#include <gmock/gmock.h>

namespace fatune {
namespace {

using testing::HasSubstr;

// The lines are NVRTC 13.0's.
TEST(NvrtcHints, AMissingNameGetsWhatToWriteInstead) {
  EXPECT_EQ(with_hints("k.cu(3): error: identifier \"INFINITY\" is undefined\n"
                       "    float x = INFINITY;\n"),
            "k.cu(3): error: identifier \"INFINITY\" is undefined (NVRTC has no standard headers: "
            "write __int_as_float(0x7f800000))\n    float x = INFINITY;\n");
  EXPECT_THAT(with_hints("k.cu(3): error: identifier \"uint32_t\" is undefined"),
              HasSubstr("(NVRTC has no standard headers: write unsigned int)"));
  EXPECT_THAT(with_hints("k.cu(3): error: identifier \"half\" is undefined"),
              HasSubstr("cuda_fp16.h"));
}

TEST(NvrtcHints, AStandardHeaderAndNamespaceGetOneToo) {
  EXPECT_THAT(with_hints("k.cu(1): catastrophic error: could not open source file \"cmath\" (no "
                         "directories in search list)"),
              HasSubstr("need no header"));
  EXPECT_THAT(with_hints("k.cu(4): error: namespace \"std\" has no member \"max\""),
              HasSubstr("cuda::std"));
}

TEST(NvrtcHints, AHeaderThatIsNotFoundGetsThePlacesWhereHeadersLie) {
  EXPECT_THAT(with_hints("k.cu(1): catastrophic error: cannot open source file "
                         "\"/home/me/.ssh/id\": Too many open files"),
              HasSubstr("(headers lie in the family's folder, "));
}

TEST(NvrtcHints, OtherErrorsStayAsTheyAre) {
  for (const char* line :
       {"", "\n", "k.cu(3): error: identifier \"foo\" is undefined\n",
        "k.cu(3): warning: variable \"INFINITY\" was declared but never referenced"}) {
    EXPECT_EQ(with_hints(line), line);
  }
}

}  // namespace
}  // namespace fatune

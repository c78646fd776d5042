#include "choose/library.hpp"

#include <gtest/gtest.h>

namespace fatune {
namespace {

using namespace std::string_view_literals;

TEST(CppText, EscapesWhatIsNoPlainText) {
  EXPECT_EQ(cpp_string("needs 64 bytes"), R"("needs 64 bytes")");
  EXPECT_EQ(cpp_string(R"(a "b" \c)"), R"("a \"b\" \\c")");
  EXPECT_EQ(cpp_string("\n1\xC3\xA9\0"sv), R"("\0121\303\251\000")");
}

TEST(CppText, ACommentHasOneLine) {
  EXPECT_EQ(cpp_comment("(FP16, 64): fast"), "// (FP16, 64): fast");
  EXPECT_EQ(cpp_comment("a\n#include <b>\r\\"), "// a #include <b> /");
}

}  // namespace
}  // namespace fatune

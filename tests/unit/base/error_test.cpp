#include "base/error.hpp"

#include <gtest/gtest.h>

namespace fatune {
namespace {

TEST(Error, ComposesPlaceFindingAndRemedy) {
  const Error error(ExitCode::bad_file, "is empty", "a.json", "write something");
  EXPECT_STREQ(error.what(), "a.json: is empty\n  write something");
  EXPECT_EQ(error.what_was_wrong(), "is empty");
  EXPECT_EQ(error.where(), "a.json");
  EXPECT_EQ(error.remedy(), "write something");
  EXPECT_EQ(error.code(), ExitCode::bad_file);
}

TEST(Error, LeavesOutWhatIsNotThere) {
  EXPECT_STREQ(Error(ExitCode::usage, "no").what(), "no");
  EXPECT_STREQ(Error(ExitCode::usage, "no", {}, "yes").what(), "no\n  yes");
}

}  // namespace
}  // namespace fatune

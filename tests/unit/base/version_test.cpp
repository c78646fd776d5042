#include "base/version.hpp"

#include <gmock/gmock.h>

namespace fatune {
namespace {

TEST(BuildIdentity, IsThatOfTheLinker) {
  EXPECT_THAT(build_identity(), testing::MatchesRegex("[0-9a-f]{40}"));
  EXPECT_EQ(build_identity(), build_identity());
}

}  // namespace
}  // namespace fatune

#include "gpu/context.hpp"

#include <gtest/gtest.h>

#include <type_traits>
#include <vector>

namespace fatune::gpu {
namespace {

std::vector<int>& released() {
  static std::vector<int> log;
  return log;
}

void release(int raw) noexcept { released().push_back(raw); }

using TestHandle = Handle<int, release, -1>;

class HandleTest : public testing::Test {
 protected:
  void SetUp() override { released().clear(); }
};

static_assert(!std::is_copy_constructible_v<TestHandle>);
static_assert(!std::is_copy_assignable_v<TestHandle>);
static_assert(std::is_nothrow_move_constructible_v<TestHandle>);

TEST_F(HandleTest, ReleasesOnceAtTheEndOfItsLife) {
  { const TestHandle handle(7); }
  EXPECT_EQ(released(), std::vector<int>{7});
}

TEST_F(HandleTest, HoldsNothingByDefault) {
  { EXPECT_FALSE(TestHandle()); }
  EXPECT_TRUE(released().empty());
}

TEST_F(HandleTest, ZeroIsAHandleWhereNullIsAnother) {
  { EXPECT_TRUE(TestHandle(0)); }
  EXPECT_EQ(released(), std::vector<int>{0});
}

TEST_F(HandleTest, MovesOwnership) {
  {
    TestHandle first(1);
    const TestHandle second(std::move(first));
    EXPECT_EQ(second.get(), 1);
  }
  EXPECT_EQ(released(), std::vector<int>{1});
}

TEST_F(HandleTest, ReleasesWhatAnAssignmentReplaces) {
  {
    TestHandle handle(1);
    handle = TestHandle(2);
    EXPECT_EQ(released(), std::vector<int>{1});
  }
  EXPECT_EQ(released(), (std::vector<int>{1, 2}));
}

}  // namespace
}  // namespace fatune::gpu

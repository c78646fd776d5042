#include "runtime/launch_builder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tuple>
#include <vector>

namespace fatune_attention::detail {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::size_t kBehind = WorkspaceLayout::kCleanBytes;

using Part = std::tuple<std::size_t, std::size_t, std::uint32_t>;  // offset, words, word

std::vector<Part> fills(const WorkspaceLayout& layout, bool is_clean) {
  std::vector<Part> parts;
  layout.for_each_fill(is_clean, [&](const Fill& fill) {
    parts.emplace_back(fill.offset, fill.words, fill.word);
    return true;
  });
  return parts;
}

TEST(WorkspaceLayout, IsEmptyWithoutBuffers) {
  const WorkspaceLayout layout{};
  EXPECT_EQ(layout.bytes(), 0U);
  EXPECT_THAT(fills(layout, false), IsEmpty());
}

TEST(WorkspaceLayout, PutsWhatStaysZeroInTheFirstPart) {
  WorkspaceLayout layout;
  EXPECT_TRUE(layout.add(4, 0, Clear::once));
  EXPECT_TRUE(layout.add(1'000'000, 0, Clear::none));
  EXPECT_TRUE(layout.add(300, 0, Clear::once));
  EXPECT_EQ(layout.offset(0), 0U);
  EXPECT_EQ(layout.offset(1), kBehind);
  EXPECT_EQ(layout.offset(2), 256U);
  EXPECT_EQ(layout.bytes(), kBehind + 1'000'192);
  EXPECT_THAT(fills(layout, false), ElementsAre(Part{0, 192, 0}));
  EXPECT_THAT(fills(layout, true), IsEmpty());
}

TEST(WorkspaceLayout, IsNoLongerThanTheFirstPartNeeds) {
  WorkspaceLayout layout;
  layout.add(4, 0, Clear::once);
  EXPECT_EQ(layout.bytes(), 256U);
}

// Another kernel may expect zeros in the first part of the same workspace.
TEST(WorkspaceLayout, KeepsWhatChangesOutOfTheFirstPart) {
  WorkspaceLayout layout;
  layout.add(4, 0, Clear::before_launch);
  layout.add(6, 0, Clear::timed);
  layout.add(4, 0xffffffff, Clear::once);
  EXPECT_EQ(layout.offset(0), kBehind);
  const std::vector<Part> parts = fills(layout, true);
  EXPECT_EQ(parts, fills(layout, false));
  EXPECT_THAT(parts, ElementsAre(Part{kBehind, 1, 0}, Part{kBehind + 256, 2, 0},
                                 Part{kBehind + 512, 1, 0xffffffff}));
}

TEST(WorkspaceLayout, FillsBeforeEachLaunchWhatDoesNotFitTheFirstPart) {
  WorkspaceLayout layout;
  layout.add(kBehind - 256, 0, Clear::once);
  layout.add(257, 0, Clear::once);
  layout.add(256, 0, Clear::once);
  EXPECT_EQ(layout.offset(1), kBehind);
  EXPECT_EQ(layout.offset(2), kBehind - 256);
  EXPECT_THAT(fills(layout, true), ElementsAre(Part{kBehind, 65, 0}));
}

TEST(WorkspaceLayout, EndsFillingWhenOneFails) {
  WorkspaceLayout layout;
  layout.add(4, 0, Clear::once);
  layout.add(4, 1, Clear::timed);
  int calls = 0;
  layout.for_each_fill(false, [&](const Fill&) {
    ++calls;
    return false;
  });
  EXPECT_EQ(calls, 1);
}

TEST(WorkspaceLayout, HasRoomForSixteenBuffers) {
  WorkspaceLayout layout;
  for (int i = 0; i < WorkspaceLayout::kMostBuffers; ++i) {
    EXPECT_TRUE(layout.add(4, 1, Clear::timed));
  }
  EXPECT_FALSE(layout.add(4, 0, Clear::none));
}

}  // namespace
}  // namespace fatune_attention::detail

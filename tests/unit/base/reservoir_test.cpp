#include "base/reservoir.hpp"

#include <gmock/gmock.h>

namespace fatune {
namespace {

std::vector<int> sample_of(int count, std::size_t most) {
  Reservoir<int> reservoir(most);
  for (int i = 0; i < count; ++i) {
    if (const auto place = reservoir.next_place()) {
      (void)reservoir.put(*place, i);
    }
  }
  EXPECT_EQ(reservoir.left_out(), std::max(0, count - static_cast<int>(most)));
  return reservoir.take();
}

TEST(Reservoir, KeepsAllThatFit) {
  EXPECT_THAT(sample_of(3, 3), testing::ElementsAre(0, 1, 2));
  EXPECT_THAT(sample_of(0, 3), testing::IsEmpty());
}

TEST(Reservoir, IsTheSameOfTheSame) { EXPECT_EQ(sample_of(1000, 10), sample_of(1000, 10)); }

/// Each of 10,000 items is equally likely to be kept, so each tenth of them has a tenth of the
/// sample.
TEST(Reservoir, KeepsEachAsLikely) {
  std::vector<int> tenths(10);
  for (const int kept : sample_of(10'000, 1000)) {
    ++tenths[static_cast<std::size_t>(kept / 1000)];
  }
  for (const int count : tenths) {
    EXPECT_NEAR(count, 100, 40);  // four standard deviations
  }
}

TEST(Reservoir, ReturnsWhatGivesWay) {
  Reservoir<int> reservoir(1);
  EXPECT_EQ(reservoir.put(*reservoir.next_place(), 5), std::nullopt);
  std::optional<std::size_t> place;
  while (!place) {
    place = reservoir.next_place();
  }
  EXPECT_EQ(reservoir.put(*place, 6), 5);
}

}  // namespace
}  // namespace fatune

#include "core/for_each_index.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <set>
#include <stdexcept>

namespace fatune {
namespace {

TEST(ForEachIndex, CallsForEveryIndexOnce) {
  std::set<std::size_t> seen;
  for_each_index(100, 1, [&](std::size_t i) { EXPECT_TRUE(seen.insert(i).second); });
  EXPECT_EQ(seen.size(), 100U);
  std::atomic<int> calls = 0;
  for_each_index(100, 4, [&](std::size_t) { ++calls; });
  EXPECT_EQ(calls, 100);
}

// There are many indices, so that a thread fails while the caller is still adding later ones.
TEST(ForEachIndex, CallsForNoFurtherIndexAfterAnException) {
  int calls = 0;
  const auto fail = [&](std::size_t) {
    ++calls;
    throw std::runtime_error("full disk");
  };
  EXPECT_THROW(for_each_index(100'000, 1, fail), std::runtime_error);
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace fatune

#include "plan/config_set.hpp"

#include <gmock/gmock.h>

#include <limits>
#include <random>

namespace fatune {
namespace {

using testing::ElementsAre;

Config config(ParamValue a, ParamValue b) { return {"f", {a, b}}; }

std::vector<Config> all_of(const ConfigSet& set) {
  std::vector<Config> all;
  for (const Config& one : set) {
    all.push_back(one);
  }
  return all;
}

TEST(ConfigSet, OfNothingIsEmpty) {
  EXPECT_THAT(all_of({}), ElementsAre());
  EXPECT_EQ(ConfigSet{}.size(), 0U);
}

TEST(ConfigSet, ListedOnesComeInTheirOrderAndOnce) {
  const ConfigSet set{config(2, 1), config(1, 1), config(2, 1)};
  EXPECT_THAT(all_of(set), ElementsAre(config(2, 1), config(1, 1)));
}

TEST(ConfigSet, AProductComesInAscendingOrder) {
  ConfigSet set;
  set.add(ConfigProduct{"f", {{1, 2}, {5, 7, 9}}});
  EXPECT_THAT(all_of(set), ElementsAre(config(1, 5), config(1, 7), config(1, 9), config(2, 5),
                                       config(2, 7), config(2, 9)));
  EXPECT_EQ(set.size(), 6U);
}

TEST(ConfigSet, WhatSeveralPartsHaveComesOnce) {
  ConfigSet set{config(1, 7)};
  set.add(ConfigProduct{"f", {{1}, {5, 7}}});
  set.add(ConfigProduct{"f", {{1, 2}, {7}}});
  EXPECT_THAT(all_of(set), ElementsAre(config(1, 7), config(1, 5), config(2, 7)));
}

TEST(ConfigSet, KnowsWhatItContains) {
  ConfigSet set{config(9, 9)};
  set.add(ConfigProduct{"f", {{1, 2}, {5}}});
  EXPECT_TRUE(set.contains(config(9, 9)));
  EXPECT_TRUE(set.contains(config(2, 5)));
  EXPECT_FALSE(set.contains(config(2, 6)));
  EXPECT_FALSE(set.contains({"g", {2, 5}}));
  EXPECT_FALSE(set.contains({"f", {2}}));
}

TEST(ConfigSet, AHugeOneIsCountedAndBegunAtOnce) {
  ConfigSet set;
  const std::vector<ParamValue> many{0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  set.add(ConfigProduct{"f", std::vector<std::vector<ParamValue>>(30, many)});
  EXPECT_EQ(set.size(), std::numeric_limits<std::size_t>::max());
  EXPECT_EQ(*set.begin(), (Config{"f", std::vector<ParamValue>(30, 0)}));
}

TEST(ConfigSet, AValueIsChosenOrPutIn) {
  ConfigSet set{config(1, 3)};
  set.add(ConfigProduct{"f", {{1, 2}, {5, 6}}});
  EXPECT_THAT(all_of(with_value(set, 0, 1)), ElementsAre(config(1, 3), config(1, 5), config(1, 6)));
  EXPECT_THAT(all_of(with_value(set, 0, 4)), ElementsAre());
  EXPECT_THAT(all_of(put_value(set, 0, 4)), ElementsAre(config(4, 3), config(4, 5), config(4, 6)));
  EXPECT_THAT(set.values_of(1), ElementsAre(3, 5, 6));
}

/// Compares with a std::set of all configurations.
TEST(ConfigSet, RandomOnesAreTheUnionOfTheirParts) {
  std::mt19937 random(1);
  const auto some_values = [&] {
    std::vector<ParamValue> values;
    for (ParamValue value = 0; value < 4; ++value) {
      if (random() % 2 == 0) {
        values.push_back(value);
      }
    }
    return values.empty() ? std::vector<ParamValue>{0} : values;
  };
  for (int trial = 0; trial < 200; ++trial) {
    ConfigSet set;
    std::set<Config> expected;
    for (unsigned i = 0; i < random() % 4; ++i) {
      const ConfigProduct product{"f", {some_values(), some_values()}};
      set.add(product);
      for (const ParamValue a : product.values[0]) {
        for (const ParamValue b : product.values[1]) {
          expected.insert(config(a, b));
        }
      }
    }
    const std::vector<Config> all = all_of(set);
    EXPECT_EQ(all.size(), expected.size());
    EXPECT_EQ(std::set<Config>(all.begin(), all.end()), expected);
  }
}

}  // namespace
}  // namespace fatune

#include "model/candidate_list.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

namespace fatune {
namespace {

struct Named {
  CandidateId id;
  std::string name;
};

TEST(CandidateList, KeepsTheOrderAndFindsById) {
  CandidateList<Named> list;
  list.add({{7}, "seven"});
  list.add({{2}, "two"}).name += "!";
  std::string names;
  for (const Named& item : list) {
    names += item.name + " ";
  }
  EXPECT_EQ(names, "seven two! ");
  EXPECT_EQ(list.at({7}).name, "seven");
  EXPECT_TRUE(list.contains({2}));
  EXPECT_FALSE(list.contains({0}));
  EXPECT_THROW(static_cast<void>(list.at({0})), std::out_of_range);
}

}  // namespace
}  // namespace fatune

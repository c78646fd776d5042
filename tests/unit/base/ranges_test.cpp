#include "base/ranges.hpp"

#include <string>
#include <utility>

#include <gmock/gmock.h>

namespace fatune {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Mapped, HasWhatAFunctionOrAMemberGivesForEachItem) {
  const std::vector<std::pair<int, std::string>> items{{1, "one"}, {2, "two"}};
  EXPECT_THAT(mapped(items, &std::pair<int, std::string>::second), ElementsAre("one", "two"));
  EXPECT_THAT(mapped(items, [](const auto& item) { return 10 * item.first; }), ElementsAre(10, 20));
  EXPECT_THAT(mapped(std::vector<int>{}, [](int item) { return item; }), IsEmpty());
}

}  // namespace
}  // namespace fatune

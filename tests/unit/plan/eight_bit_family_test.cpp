// Plans of a family that has configurations for a Q of 8 bits.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file_tree.hpp"
#include "plan/config_text.hpp"
#include "plan/planner.hpp"
#include "plan/space.hpp"
#include "unit/plan/plan_fixtures.hpp"

namespace fatune {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class EightBitFamily : public testing::Test {
 protected:
  [[nodiscard]] Plan plan(const Binding& binding) const {
    return make_plan(family_, load_space(tree_, family_, "toy"), binding);
  }

  static FileTree tree_of_toy() {
    FileTree tree;
    tree.overlay_kernels(FATUNE_TESTS_FOLDER "/families/toy_eight_bits");
    return tree;
  }

  FileTree tree_ = tree_of_toy();
  Family family_ = load_family(tree_, "toy_eight_bits");
};

// A rule of the family wants K and V of the bits of Q.
TEST_F(EightBitFamily, HasKeysOfTheTypeOfItsQueriesInPlansWithoutAProblem) {
  EXPECT_THAT(plan({}).kept, SizeIs(1));
  EXPECT_THAT(plan({{DType::e4m3}, {64}, DType::fp16}).kept, SizeIs(1));
}

TEST_F(EightBitFamily, SaysWhichTypesItHas) {
  const Plan none = plan({{DType::bf16}, {64}, DType::fp16});
  EXPECT_THAT(none.kept, IsEmpty());
  EXPECT_THAT(unknown_values(none),
              testing::ElementsAre("dtype is BF16; toy_eight_bits understands E4M3"));
}

TEST_F(EightBitFamily, IsToldOfTheScalesOfQueriesAndKeys) {
  const Problem eight = changed({1, 4, 1, 64}, [](Problem& p) { p.dtype = DType::e4m3; });
  const Problem sixteen{1, 4, 1, 64};
  for (const ToldProperty& property : {kToldEightBitQueries, kToldEightBitKeys}) {
    EXPECT_TRUE(has(eight, property));
    EXPECT_FALSE(has(sixteen, property));
    EXPECT_TRUE(takes(family_.arguments, property));
  }
  const Family decode = load_family(FileTree{}, "flash_decode");
  EXPECT_TRUE(takes(decode.arguments, kToldEightBitKeys));
  EXPECT_FALSE(takes(decode.arguments, kToldEightBitQueries));
  const Config config = parse_config(family_, "(E4M3, 64, 0)");
  EXPECT_FALSE(check_valid(family_, config, &eight));
  EXPECT_THAT(check_valid(family_, config, &sixteen)->reason,
              HasSubstr("dtype is E4M3 in the configuration, but FP16 in the problem"));
}

TEST_F(EightBitFamily, PassesTheScalesOfQueries) {
  const Problem eight = changed({1, 4, 1, 64}, [](Problem& p) { p.dtype = DType::e4m3; });
  const Config config = parse_config(family_, "(E4M3, 64, 0)");
  const LaunchGeometry launch = launch_geometry({family_, config, eight, fixtures::h200()});
  std::vector<std::string> tensors;
  for (const AddressPiece& piece : launch.arguments.list.at(0).addresses) {
    tensors.push_back(piece.tensor);
  }
  EXPECT_THAT(tensors,
              testing::ElementsAre("q", "k", "v", "o", "q_scales", "k_scales", "v_scales"));
}

}  // namespace
}  // namespace fatune

// What kernels are launched with if K and V are pools of pages, and which families take them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "model/kv_pages.hpp"
#include "plan/config_text.hpp"
#include "plan/planner.hpp"
#include "unit/plan/plan_fixtures.hpp"

namespace fatune {
namespace {

using testing::ElementsAre;

Problem paged_problem(std::int64_t page_size) {
  Problem problem{3, 1, 8, 128, DType::bf16, false};
  problem.kv_heads = 2;
  problem.seq_len_kv = 1000;
  problem.page_size = page_size;
  return problem;
}

const Family& decode_family() {
  static const Family family = load_family(FileTree{}, "flash_decode");
  return family;
}

LaunchGeometry launch_with(const std::string& config, const Problem& problem) {
  const Config parsed = parse_config(decode_family(), config);
  return launch_geometry({decode_family(), parsed, problem, fixtures::h200()});
}

TEST(PagesOfFamilies, AreTakenByThoseWithATable) {
  EXPECT_TRUE(takes(decode_family().arguments, kToldPages));
  EXPECT_TRUE(takes(load_family(FileTree{}, "flash_sm90").arguments, kToldPages));
  for (const char* name : {"flash_decode_sm80", "flash_sm80"}) {
    const Family family = load_family(FileTree{}, name);
    EXPECT_FALSE(takes(family.arguments, kToldPages)) << name;
  }
  const Config config =
      fixtures::flash_config("(BF16, 128, 128, 64, 4): async+eager+swizzled+load_2_2_2_tiles");
  const Problem problem = paged_problem(16);
  const auto invalid = check_valid(fixtures::flash(), config, &problem);
  ASSERT_TRUE(invalid);
  EXPECT_EQ(invalid->rule, "pages-of-keys");
}

/// The tensor map of K or V in such pages, of a configuration with steps of 128 keys.
TensorMapPiece map_of(const Problem& problem, std::size_t argument) {
  const LaunchGeometry launch = launch_with("(BF16, 128, 8, 128, 2, 1): parts_512", problem);
  return launch.arguments.list.at(argument).tensor_maps.at(0);
}

// A box of pages of up to four keys has one panel of a page; one of large pages has a whole step.
TEST(PagesOfFlashDecode, HaveTensorMapsOfThePool) {
  for (const std::int64_t page_size : {4, 128, 256}) {
    const Problem problem = paged_problem(page_size);
    for (const std::size_t argument : {1U, 2U}) {
      const TensorMapPiece map = map_of(problem, argument);
      EXPECT_THAT(map.sizes, ElementsAre(64, page_size, 2, 2, pool_pages(problem)));
      EXPECT_THAT(map.strides_bytes,
                  ElementsAre(2 * 128 * 2, 128, 128 * 2, page_size * 2 * 128 * 2));
      EXPECT_THAT(map.box, ElementsAre(64, std::min<std::int64_t>(page_size, 128),
                                       page_size < 128 ? 1 : 2, 1, 1));
    }
  }
}

// A box is a whole page, in groups of eight keys, and begins at the first column of a head.
TEST(PagesOfFlashDecode, AreOneBoxEachIfAStepHasSeveral) {
  for (const std::int64_t page_size : {8, 16, 64}) {
    Problem problem = paged_problem(page_size);
    EXPECT_THAT(map_of(problem, 1).sizes,
                ElementsAre(128 + 64, 8, 2, page_size / 8, pool_pages(problem)));
    EXPECT_THAT(map_of(problem, 2).strides_bytes,
                ElementsAre(2 * 128 * 2, 128, 8 * 2 * 128 * 2, page_size * 2 * 128 * 2));
    problem.layout = Layout::bhsd;
    EXPECT_THAT(map_of(problem, 2).sizes,
                ElementsAre(page_size * 128 + 64, 8, 2, page_size / 8, pool_pages(problem)));
    EXPECT_THAT(map_of(problem, 1).strides_bytes,
                ElementsAre(128 * 2, 128, 8 * 128 * 2, page_size * 2 * 128 * 2));
    EXPECT_THAT(map_of(problem, 1).box, ElementsAre(64, 8, 2, page_size / 8, 1));
  }
}

TEST(PagesOfFlashDecode, HaveArgumentsAndCodeOfTheirOwn) {
  const std::string text = "(BF16, 128, 8, 128, 2, 1): parts_512";
  const Config config = parse_config(decode_family(), text);
  const auto defines_page_size = [&](const Problem& problem) {
    const CompileRequest request =
        compile_request({decode_family(), config, problem, fixtures::h200()});
    return std::ranges::any_of(
        request.defines, [](const auto& define) { return define.first == "FATUNE_PAGE_SIZE"; });
  };
  const Problem paged = paged_problem(16);
  const Problem contiguous = without_pages(paged);
  EXPECT_TRUE(defines_page_size(paged));
  EXPECT_FALSE(defines_page_size(contiguous)) << "the kernel's key must not change";
  const auto bytes = [&](const Problem& problem) {
    return launch_with(text, problem).arguments.list.back().bytes;
  };
  EXPECT_EQ(bytes(paged), bytes(contiguous) + 24) << "the table, its width, and where heads are";
}

TEST(PagesOfFlashDecode, AreWholeInAStepOrHaveWholeSteps) {
  const auto rule_of = [](const char* config, std::int64_t page_size) {
    const Problem problem = paged_problem(page_size);
    const auto invalid =
        check_valid(decode_family(), parse_config(decode_family(), config), &problem);
    return invalid ? invalid->rule : "";
  };
  for (std::int64_t size = 1; size <= kMostPageSize; size *= 2) {
    EXPECT_EQ(rule_of("(BF16, 128, 8, 64, 2, 1): parts_512", size), "") << size;
    const char* const expected = size <= 16 ? "" : "whole-pages";
    EXPECT_EQ(rule_of("(BF16, 128, 128, 80, 2, 1): parts_512", size), expected) << size;
    EXPECT_EQ(rule_of("(BF16, 128, 128, 176, 2, 1): parts_512", size), expected) << size;
  }
}

// A box has the keys of a page or, where a step has no whole pages, the greatest power of two of
// them that divides both; all panels if it is a whole step.
TEST(PagesOfFlashSm90, HaveTensorMapsOfThePool) {
  const Family family = load_family(FileTree{}, "flash_sm90");
  const auto box_of = [&](const char* config, std::int64_t page_size) {
    Problem problem = paged_problem(page_size);
    problem.seq_len = 1000;
    const LaunchGeometry launch =
        launch_geometry({family, parse_config(family, config), problem, fixtures::h200()});
    const TensorMapPiece& map = launch.arguments.list.at(1).tensor_maps.at(0);
    EXPECT_THAT(map.sizes, ElementsAre(64, page_size, 2, 2, pool_pages(problem)));
    EXPECT_EQ(map.box, launch.arguments.list.at(2).tensor_maps.at(0).box);
    return map.box;
  };
  const char* const of_80 = "(ws, BF16, 128, 192, 80, 2, 12, 3): slots_1+cluster_1+persistent";
  EXPECT_THAT(box_of(of_80, 4), ElementsAre(64, 4, 1, 1, 1));
  EXPECT_THAT(box_of(of_80, 64), ElementsAre(64, 16, 1, 1, 1));
  const char* const of_128 = "(ws, BF16, 128, 128, 128, 2, 8, 2): slots_1+cluster_1+persistent";
  EXPECT_THAT(box_of(of_128, 64), ElementsAre(64, 64, 1, 1, 1));
  EXPECT_THAT(box_of(of_128, 128), ElementsAre(64, 128, 2, 1, 1));
  EXPECT_THAT(box_of(of_128, 256), ElementsAre(64, 128, 2, 1, 1));
}

}  // namespace
}  // namespace fatune

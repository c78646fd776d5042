#include "cli/program.hpp"

#include <fstream>
#include <map>
#include <regex>

namespace fatune::testing_cli {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class List : public ProgramTest {};

std::map<std::string, int> drops_by_rule(const json& list) {
  std::map<std::string, int> drops;
  for (const json& dropped : list["pruned"]) {
    ++drops[dropped["rule"]];
  }
  return drops;
}

TEST_F(List, TuneKeeps80Of256) {
  const ProcessResult result = fatune({"list", "--space", "tune", "--format", "json"});
  expect_ok(result);
  expect_schema(result.out, "list");
  const json list = json::parse(result.out);
  EXPECT_EQ(list["kept"].size(), 80U);
  EXPECT_EQ(list["pruned"].size(), 176U);
  EXPECT_EQ(drops_by_rule(list), (std::map<std::string, int>{{"qk-tiles-equal", 64},
                                                             {"br64-bc32-q-in-registers", 32},
                                                             {"br64-bc64-q-tiled", 16},
                                                             {"br128-q-in-registers", 64}}));
  std::vector<std::string> order;
  for (const json& rule : list["rules"]) {
    order.push_back(rule["rule"]);
  }
  EXPECT_THAT(order, testing::ElementsAre("eager-needs-async", "qk-tiles-equal", "br64-no-8-warps",
                                          "br64-bc32-q-in-registers", "br64-bc64-q-tiled",
                                          "br128-q-in-registers"));
}

TEST_F(List, OtherSpacesHaveTheirs) {
  const std::map<std::string, std::size_t> counts{{"prog", 7}, {"progall", 56}, {"64,32", 16}};
  for (const auto& [space, count] : counts) {
    EXPECT_EQ(fatune_json({"list", "--space", space, "--format", "json"})["kept"].size(), count)
        << space;
  }
}

TEST_F(List, TableShowsRulesOnlyWhenAskedFor) {
  const ProcessResult kept = fatune({"list", "--space", "prog"});
  expect_golden(kept.out, "list_prog_table.txt");
  const ProcessResult all = fatune({"list", "--space", "64,32", "--dtype", "bf16", "--pruned"});
  expect_golden(all.out, "list_pruned_table.txt");
}

TEST_F(List, CsvAndMarkdown) {
  expect_golden(fatune({"list", "--space", "prog", "--format", "csv"}).out, "list_prog.csv");
  expect_golden(fatune({"list", "--space", "prog", "--format", "md"}).out, "list_prog.md");
}

TEST_F(List, DTypeAndHeadDimensionArePutIn) {
  const json list = fatune_json(
      {"list", "--space", "prog", "--dtype", "bf16", "--dhead", "64", "--format", "json"});
  ASSERT_EQ(list["kept"].size(), 7U);
  for (const json& kept : list["kept"]) {
    EXPECT_THAT(std::string(kept["config"]), testing::StartsWith("(BF16, 64, 64, 64, 4): async"));
  }
}

TEST_F(List, AValueThatTheFamilyDoesNotKnowNamesThoseThatItKnows) {
  const ProcessResult result = fatune({"list", "--space", "prog", "--dhead", "80"});
  expect_ok(result);
  EXPECT_THAT(
      result.out,
      testing::HasSubstr("\ninvalid: d_head is 80; flash_sm80 understands 64, 96, 128, 256\n"));
}

// emulate_hopper_test.cpp tests what these rules drop.
TEST_F(List, RulesThatKnowTheProblemWaitForALength) {
  const std::vector<std::string> list{"list", "--space", "hopper", "--dhead", "128"};
  EXPECT_THAT(fatune(list).out,
              HasSubstr("invalid\ntried on each problem, or with --seq: "
                        "registers-fit-beside-two-warps, packed-tiles-alone, pages-in-small-boxes, "
                        "nothing-packed, sums-cost-less, maxima-cost-less, keys-padded, "
                        "short-saves-little, last-step-padded, split-saves-little, "
                        "waves-unfilled\n"));
  auto with_length = list;
  with_length.insert(with_length.end(), {"--seq", "512", "--format", "json"});
  const ProcessResult result = fatune(with_length);
  expect_schema(result.out, "list");
  const json report = json::parse(result.out);
  EXPECT_EQ(report["seq_len"], 512);
  const json rule = *std::ranges::find_if(
      report["rules"], [](const json& one) { return one["rule"] == "keys-padded"; });
  EXPECT_EQ(rule["waits"], false);
  EXPECT_GT(rule["dropped"], 0);
  with_length[6] = "512,1024";
  expect_error(fatune(with_length), ExitCode::usage, {"--seq: list takes one sequence length"});
}

TEST_F(List, ALargeSpaceIsCountedAndSampled) {
  const json flags{false, true};
  const json tiles{0, 2, 4};
  const json extents{32, 48, 64, 80, 96, 112, 128, 144, 160, 176};
  const json axes{{"dtype", {"FP16", "BF16"}},
                  {"d_head", {128}},
                  {"B_r", extents},
                  {"B_c", extents},
                  {"n_warps", {4, 8}},
                  {"async_copy", flags},
                  {"eager_load_blocks", flags},
                  {"swizzled", flags},
                  {"Q_mma_load_K_tiles", tiles},
                  {"K_mma_load_K_tiles", tiles},
                  {"V_mma_load_K_tiles", tiles},
                  {"mma_double_buffer_loads", flags},
                  {"optimized_softmax", flags}};
  const json space{{"family", "flash_sm80"}, {"summary", "large"}, {"configs", {{{"axes", axes}}}}};
  std::ofstream(path("large.json")) << space;
  const ProcessResult text = fatune({"list", "--space", path("large.json")});
  EXPECT_THAT(text.out, HasSubstr("invalid\nthe list is a random sample: "));
  std::smatch counts;
  ASSERT_TRUE(std::regex_search(text.out, counts, std::regex("(\\d+) kept, 0 pruned, (\\d+) inv")));
  EXPECT_EQ(std::stoi(counts[1]) + std::stoi(counts[2]), 345'600);
  EXPECT_THAT(text.out, HasSubstr(counts[1].str() + " kept, 0 pruned, 262144 invalid\n"));
}

TEST_F(List, TheKernelsVariableChoosesTheSpace) {
  process_.environment["KERNELS"] = "prog";
  EXPECT_EQ(fatune_json({"list", "--format", "json"})["kept"].size(), 7U);
  process_.environment["KERNELS"] = "";
  EXPECT_EQ(fatune_json({"list", "--format", "json"})["kept"].size(), 80U);
}

TEST_F(List, AFamilyOfTheUsersIsTheDefaultOfItsFolder) {
  const json list = fatune_json({"list", "--kernel-dir", kToyFolder, "--format", "json"});
  EXPECT_EQ(list["family"], "toy_attention");
  EXPECT_FALSE(list["kept"].empty());
}

TEST_F(List, OutputThatCannotBeWrittenIsAnError) {
  const ProcessResult result =
      run_process({"/bin/sh", "-c", std::string(FATUNE_PROGRAM) + " list >/dev/full"}, process_);
  expect_error(result, ExitCode::io, {"standard output"});
}

}  // namespace
}  // namespace fatune::testing_cli

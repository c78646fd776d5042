#include "plan/space.hpp"

#include <gmock/gmock.h>

#include "plan/config_text.hpp"
#include "plan/planner.hpp"
#include "unit/base/temp_folder.hpp"
#include "unit/plan/plan_fixtures.hpp"

namespace fatune {
namespace {

using fixtures::flash;
using fixtures::TempFolder;
using nlohmann::json;
using ::testing::ElementsAre;

Space load(const std::string& key) { return load_space(FileTree{}, flash(), key); }

Space load_text(const std::string& text) {
  const TempFolder folder;
  return load_space(FileTree{}, flash(), folder.write("s.json", text).string());
}

json good_space() {
  return {{"family", "flash_sm80"},
          {"summary", "two"},
          {"configs",
           {{{"list", {"(FP16, 128, 64, 64, 4): load_0_0_0_tiles"}},
             {"overlay", {{"B_r", {64, 128}}}}}}}};
}

TEST(Space, ChosenByOptionThenVariableThenFamily) {
  EXPECT_EQ(choose_space(flash(), "prog", "progall"), "prog");
  EXPECT_EQ(choose_space(flash(), std::nullopt, "progall"), "progall");
  EXPECT_EQ(choose_space(flash(), std::nullopt, ""), "tune");
  EXPECT_EQ(choose_space(flash(), std::nullopt, std::nullopt), "tune");
}

TEST(Space, IsThereForItsOwnFamilyAlone) {
  const FileTree tree;
  const Family hopper = load_family(tree, "flash_sm90");
  for (const char* key : {"prog", "64,32", "hopper_ci", "none", "1,2"}) {
    EXPECT_EQ(has_space(tree, flash(), key),
              std::string(key) == "prog" || std::string(key) == "64,32");
    EXPECT_EQ(has_space(tree, hopper, key), std::string(key) == "hopper_ci");
  }
  const TempFolder folder;
  const std::string file = folder.write("s.json", good_space().dump()).string();
  EXPECT_TRUE(has_space(tree, flash(), file));
  EXPECT_FALSE(has_space(tree, hopper, file));
}

TEST(Space, EveryBuiltInKeyIsThere) {
  std::vector<std::string> keys;
  for (const SpaceInfo& info : list_spaces(FileTree{}, flash())) {
    keys.push_back(info.key);
    EXPECT_FALSE(info.summary.empty());
  }
  EXPECT_THAT(keys, ElementsAre("tune_wide", "all", "prog", "progall", "tune", "64,32", "64,64",
                                "128,32", "128,64"));
}

TEST(Space, TheProgressionStandsInItsOrder) {
  std::vector<std::string> texts;
  const Space prog = load("prog");
  for (const Config& config : prog.parts.at(0).configs) {
    texts.push_back(short_form(flash(), config));
  }
  EXPECT_THAT(
      texts,
      ElementsAre("(FP16, 128, 64, 64, 4): async+load_0_0_0_tiles",
                  "(FP16, 128, 64, 64, 4): async+swizzled+load_0_0_0_tiles",
                  "(FP16, 128, 64, 64, 4): async+eager+swizzled+load_0_0_0_tiles",
                  "(FP16, 128, 64, 64, 4): async+eager+swizzled+load_2_2_2_tiles",
                  "(FP16, 128, 64, 64, 4): async+eager+swizzled+load_2_2_2_tiles+buffer",
                  "(FP16, 128, 64, 64, 4): "
                  "async+eager+swizzled+load_2_2_2_tiles+buffer+opt_softmax",
                  "(FP16, 128, 64, 64, 4): async+eager+swizzled+load_0_2_2_tiles+opt_softmax"));
}

TEST(Space, ASliceIsThePartOfTune) {
  for (const char* text : {"64,32", " 64 , 32"}) {
    const Space slice = load(text);
    EXPECT_EQ(slice.key, "64,32");
    EXPECT_EQ(slice.summary, "the part of tune with B_r = 64, B_c = 32");
    ASSERT_EQ(slice.parts.at(0).configs.size(), 64U);
    for (const Config& config : slice.parts[0].configs) {
      EXPECT_EQ(config.values[2], 64);
      EXPECT_EQ(config.values[3], 32);
    }
    EXPECT_EQ(make_plan(flash(), slice).kept.size(), 16U);
  }
}

TEST(Space, AnUnknownKeyIsAnsweredWithTheValid) {
  for (const char* key : {"tuna", "", "256,32", "64", "64,32,4", "64,", ",", "-1,2", "..",
                          "99999999999999999999,1", "\x1b[31m"}) {
    fixtures::expect_error(
        [&] { (void)load(key); }, ExitCode::usage,
        {"has no space '", "tune_wide, all, prog, progall, tune, 64,32", ".json"});
  }
}

TEST(Space, AFileIsReadFromDisk) {
  const Space space = load_text(good_space().dump());
  EXPECT_EQ(space.summary, "two");
  EXPECT_EQ(space.parts.at(0).configs.size(), 2U);
  EXPECT_TRUE(space.parts[0].rules.empty());
  fixtures::expect_error([] { (void)load("./none.json"); }, ExitCode::bad_file,
                         {"./none.json", "cannot be opened"});
}

TEST(Space, AFileMayNameAnotherSpace) {
  json space = good_space();
  space["configs"].push_back({{"space", "tune"}});
  space["rules"] = {{{"id", "only-bf16"}, {"drops_when", "dtype == 5"}, {"reason", "{dtype}"}}};
  const Plan plan = make_plan(flash(), load_text(space.dump()));
  EXPECT_EQ(plan.kept.size(), 40U);  // tune's rules hold as well
}

TEST(Space, AReasonIsTheFirstWhoseConditionHolds) {
  json space = good_space();
  json rule = {{"id", "r"}, {"drops_when", "1"}};
  rule["reason"] = {{{"when", "B_r == 1"}, {"value", "one row"}},
                    {{"when", "B_c > 0"}, {"value", "{B_r + 1} rows"}}};
  space["rules"] = json::array({rule});
  const Plan plan = make_plan(flash(), load_text(space.dump()));
  EXPECT_EQ(std::get<Pruned>(plan.dropped.front().outcome).reason, "65 rows");
  rule["reason"].erase(1);
  space["rules"] = json::array({rule});
  fixtures::expect_error([&] { (void)make_plan(flash(), load_text(space.dump())); },
                         ExitCode::bad_file,
                         {": /rules/0/reason", "no \"when\" holds", "B_r == 1"});
  rule["reason"][0]["when"] = "B_r >";
  space["rules"] = json::array({rule});
  fixtures::expect_error([&] { (void)load_text(space.dump()); }, ExitCode::bad_file,
                         {": /rules/0/reason/0/when", "position"});
}

struct BadSpace {
  const char* pointer;
  json value;
  std::vector<std::string> parts;
};

TEST(Space, EveryMistakeIsAnsweredWithPointerAndRemedy) {
  const json rule = {{"id", "r"}, {"drops_when", "1"}, {"reason", "x"}};
  const auto rule_with = [&](const char* key, const char* value) {
    json changed = rule;
    changed[key] = value;
    return json::array({changed});
  };
  const std::vector<BadSpace> bad_spaces{
      {"/family", "other", {": /family", "for 'other', not for 'flash_sm80'", "--family"}},
      {"/configs", json::array(), {": /configs", "the parts of the space"}},
      {"/configs/0", json::object(), {": /configs/0", "exactly one of 'axes', 'list' and 'space'"}},
      {"/configs/0/space", "tune", {": /configs/0", "exactly one of"}},
      {"/configs/0", {{"space", "none"}}, {": /configs/0/space", "no space 'none'"}},
      {"/configs/0",
       {{"space", "tune"}, {"overlay", {{"B_r", {64}}}}},
       {": /configs/0/overlay", "goes with a 'list'"}},
      {"/configs/0/list/0", "(FP16", {": /configs/0/list/0", "expected ','", "write it as"}},
      {"/configs/0/list/0", 5, {": /configs/0/list/0", "5 is number"}},
      {"/configs/0/overlay",
       {{"BR", {64}}},
       {": /configs/0/overlay/BR", "no parameter 'BR'", "B_r"}},
      {"/configs/0/overlay/B_r/0", "big", {": /configs/0/overlay/B_r/0", "'big' is not a value"}},
      {"/configs/0/overlay/B_r/0",
       true,
       {": /configs/0/overlay/B_r/0", "true is not a value of B_r"}},
      {"/configs/0/overlay/B_r/0", -4, {": /configs/0/overlay/B_r/0", "'-4' is not a value"}},
      {"/configs/0/overlay",
       {{"swizzled", {1}}},
       {": /configs/0/overlay/swizzled/0", "false, true"}},
      {"/configs/0/overlay/B_r", json::array(), {": /configs/0/overlay/B_r"}},
      {"/configs/0",
       {{"axes", {{"B_r", {64}}}}},
       {": /configs/0/axes", "no values for the parameter 'dtype'"}},
      {"/slices", json::array({"dtype"}), {": /slices/0", "not an int parameter"}},
      {"/slices", json::array({"X"}), {": /slices/0", "not an int parameter"}},
      {"/rules", rule_with("drops_when", "B_r >"), {": /rules/0/drops_when", "position"}},
      {"/rules",
       rule_with("drops_when", "seq_length > 1"),
       {": /rules/0/drops_when", "unknown name 'seq_length'", "B_r", "seq_len"}},
      {"/rules", rule_with("reason", "{x}"), {": /rules/0/reason", "unknown name 'x'"}},
      {"/rules",
       rule_with("drop_when", "1"),
       {": /rules/0", "unknown member 'drop_when'", "drops_when"}},
      {"/rule", json::array(), {": /", "unknown member 'rule'"}},
  };
  for (const BadSpace& bad : bad_spaces) {
    SCOPED_TRACE(std::string(bad.pointer) + " = " + bad.value.dump());
    json space = good_space();
    space[json::json_pointer(bad.pointer)] = bad.value;
    std::vector<std::string> parts = bad.parts;
    parts.emplace_back("s.json");
    fixtures::expect_error([&] { (void)load_text(space.dump()); }, ExitCode::bad_file, parts);
  }
}

TEST(Space, AnExplosionIsRefusedBeforeItHappens) {
  json many = json::array();
  for (int i = 0; i < 1000; ++i) {
    many.push_back(i);
  }
  json space = good_space();
  space["configs"][0]["overlay"] = {{"B_r", many}, {"B_c", many}, {"n_warps", many}};
  fixtures::expect_error([&] { (void)load_text(space.dump()); }, ExitCode::bad_file,
                         {": /configs/0/overlay", "more than 262144 configurations"});
}

TEST(Space, ARuleThatDividesByZeroIsTheFilesMistake) {
  json space = good_space();
  space["rules"] = {{{"id", "r"}, {"drops_when", "1 / Q_mma_load_K_tiles"}, {"reason", "x"}}};
  const Space loaded = load_text(space.dump());
  fixtures::expect_error(
      [&] { (void)make_plan(flash(), loaded); }, ExitCode::bad_file,
      {": /rules/0/drops_when", "not a finite number", "Q_mma_load_K_tiles = 0"});
}

TEST(Space, ACycleIsFound) {
  const TempFolder folder;
  folder.write("family.json", fixtures::toy_json().dump());
  folder.write("toy_attention.cu", "");
  const json ring = {
      {"family", "toy_attention"}, {"summary", "s"}, {"configs", {{{"space", "ring"}}}}};
  folder.write("spaces/ring.json", ring.dump());
  FileTree tree;
  tree.overlay_kernels(folder.path());
  const Family family = load_family(tree, "toy_attention");
  fixtures::expect_error([&] { (void)load_space(tree, family, "ring"); }, ExitCode::bad_file,
                         {"ring.json: /configs/0/space", "cycle"});
}

}  // namespace
}  // namespace fatune

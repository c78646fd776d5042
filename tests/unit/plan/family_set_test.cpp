#include "plan/family.hpp"

#include <gmock/gmock.h>

#include "base/error.hpp"
#include "plan/config_text.hpp"
#include "plan/planner.hpp"
#include "plan/scope.hpp"

namespace fatune {
namespace {

FamilySet both() {
  std::vector<Family> families;
  for (const char* name : {"flash_sm80", "flash_sm90"}) {
    families.push_back(load_family(FileTree{}, name));
  }
  return FamilySet(std::move(families));
}

std::string what_is_wrong_with(std::string_view text) {
  try {
    const Config config = parse_config(both(), text);
    return "nothing: it is of " + config.family;
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(FamilySet, HasTheNamesOfItsFamilies) {
  FamilySet families = both();
  EXPECT_EQ(families.names(), "flash_sm80+flash_sm90");
  families.keep_if([](const Family& family) { return family.name == "flash_sm90"; });
  EXPECT_EQ(families.names(), "flash_sm90");
  EXPECT_EQ(families.find("flash_sm80"), nullptr);
}

TEST(FamilySet, KnowsTheFamilyOfAConfiguration) {
  const FamilySet families = both();
  const Config config =
      parse_config(families, "(ws, FP16, 128, 128, 128, 2, 8, 2): lazy+slots_1+cluster_1");
  EXPECT_EQ(families.of(config).name, "flash_sm90");
  EXPECT_THROW(static_cast<void>(families.of({"other", {}})), Error);
}

TEST(FamilySet, ReadsConfigurationsOfEachFamilyInEveryForm) {
  const FamilySet families = both();
  for (const char* text : {"(FP16, 128, 64, 64, 4): async+load_0_0_0_tiles",
                           "(ws, FP16, 128, 128, 128, 2, 8, 2): lazy+slots_1+cluster_1"}) {
    const Config config = parse_config(families, text);
    const Family& family = families.of(config);
    EXPECT_EQ(family.name, std::string(text).starts_with("(FP16") ? "flash_sm80" : "flash_sm90");
    EXPECT_EQ(parse_config(families, kernel_name(family, config)), config);
    EXPECT_FALSE(check_valid(family, config)) << text;
  }
}

TEST(Family, IsMeantForTheProblemsThatItsFileNames) {
  Problem problem{64, 1, 32, 128, DType::bf16};
  problem.seq_len_kv = 8192;
  problem.kv_heads = 8;
  for (const char* name : {"flash_decode", "flash_decode_sm80"}) {
    const Family decode = load_family(FileTree{}, name);
    problem.seq_len = 1;
    EXPECT_TRUE(is_meant_for(decode, problem)) << name;
    problem.seq_len = 128;
    EXPECT_TRUE(is_meant_for(decode, problem)) << name;
    problem.seq_len = 129;
    EXPECT_FALSE(is_meant_for(decode, problem)) << name << ": more than 256 packed rows";
    Problem prompt{1, 2500, 4, 128, DType::bf16};
    EXPECT_EQ(is_meant_for(decode, usual_problem(prompt)), decode.name == "flash_decode");
    ++prompt.seq_len;
    EXPECT_FALSE(is_meant_for(decode, usual_problem(prompt))) << name << ": over 10,000 rows";
  }
  EXPECT_TRUE(is_meant_for(load_family(FileTree{}, "flash_sm80"), problem)) << "says nothing";
}

TEST(FamilySet, ExplainsByTheFamilyThatReadsFurthest) {
  EXPECT_THAT(what_is_wrong_with("(ws, FP17, 128"), testing::HasSubstr("'FP17' is not a value"));
  EXPECT_THAT(what_is_wrong_with("(ws, FP16, 100"), testing::HasSubstr("BLOCK_M"));
  EXPECT_THAT(what_is_wrong_with("(FP16, 100"), testing::HasSubstr("B_r"));
  EXPECT_THAT(what_is_wrong_with("nonsense"), testing::HasSubstr("B_r"));
}

}  // namespace
}  // namespace fatune

#include "tuned/tuned_file.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

namespace fatune {
namespace {

using nlohmann::json;

const FamilySet& families() {
  static const FamilySet set({load_family(FileTree(), "flash_sm90")});
  return set;
}

const SourceHashes kHashes{{"flash_sm90", "abc"}};

json result(const std::string& config, double us, int tie_group = 1) {
  return {{"config", config},  {"family", "flash_sm90"}, {"measured", true},
          {"verified", "gpu"}, {"time_us", us},          {"tie_group", tie_group}};
}

const std::string kGood = "(ws, FP16, 64, 192, 128, 2, 12, 3): overlap+lazy+slots_1+cluster_1";
const std::string kOther = "(ws_pp, FP16, 64, 192, 128, 2, 12, 3): overlap+lazy+slots_1+cluster_1";

/// A results.json with one problem; its parts can be changed.
struct Results {
  json device{{"name", "NVIDIA H200"}, {"arch", "sm_90a"}, {"sm_count", 132}};
  json problem{{"batch", 16},  {"seq_len", 512},  {"heads", 16},
               {"d_head", 64}, {"dtype", "FP16"}, {"causal", false}};
  json ranking = json::array({result(kGood, 40.0), result(kOther, 42.0, 2)});

  [[nodiscard]] json document() const {
    return {{"started_at", "2026-11-23T00:00:00Z"},
            {"complete", false},
            {"family", "flash_sm90"},
            {"toolchain", {{"fatune", "0.1.0"}, {"nvrtc", "13.0"}, {"driver", "580"}}},
            {"device", device},
            {"problems", {{{"problem", problem}, {"ranking", ranking}}}}};
  }
  [[nodiscard]] TunedTable read() const { return read(document()); }
  static TunedTable read(const json& document) {
    TunedTable table;
    add_tuned(JsonNode(document, "results.json"), "results.json", {families(), kHashes}, table);
    finish_table(table);
    return table;
  }
};

TEST(TunedFile, ReadsARankingWithItsRegrets) {
  const TunedTable table = Results().read();
  ASSERT_EQ(table.problems.size(), 1U);
  const TunedProblem& row = table.problems[0];
  EXPECT_EQ(row.gpu, (GpuModel{"NVIDIA H200", {90, 'a'}, 132}));
  EXPECT_EQ(row.problem.seq_len, 512);
  ASSERT_EQ(row.times.size(), 2U);
  EXPECT_EQ(row.times[1].short_form, kOther);
  EXPECT_NEAR(row.times[1].regret_percent, 5.0, 1e-9);
  EXPECT_EQ(row.times[1].tie_group, 2);
  EXPECT_EQ(table.origins.at(0).nvrtc_version, "13.0");
  EXPECT_FALSE(table.origins.at(0).complete);
  EXPECT_TRUE(table.skipped.empty());
}

TEST(TunedFile, ReadsWinnersAndRunnersUp) {
  const Results results;
  json best = results.document();
  best.erase("problems");
  best["gpus"] = {{{"device", results.device},
                   {"problems",
                    {{{"problem", results.problem},
                      {"winner", results.ranking[0]},
                      {"runners_up", {results.ranking[1]}}}}}}};
  const TunedTable table = Results::read(best);
  ASSERT_EQ(table.problems.size(), 1U);
  EXPECT_EQ(table.problems[0].times.size(), 2U);
}

TEST(TunedFile, ReadsSeveralRuns) {
  Results other;
  other.device["name"] = "NVIDIA H100";
  const TunedTable table = Results::read({{"runs", {Results().document(), other.document()}}});
  EXPECT_EQ(table.problems.size(), 2U);
  EXPECT_EQ(table.gpus.size(), 2U);
  EXPECT_EQ(table.origins.size(), 2U);
}

TEST(TunedFile, AddsWhatARaceForACoverHasTimedByItsWinner) {
  Results results;
  results.ranking = {result(kGood, 40.0)};
  json document = results.document();
  json race = document["problems"][0];
  race["run"] = 2;
  race["pruned"] = 1;
  race["ranking"] = {result(kGood, 20.0)};
  race["audited"] = {result(kOther, 21.0)};
  document["problems"].push_back(race);
  const TunedTable table = Results::read(document);
  ASSERT_EQ(table.problems.size(), 1U);
  const std::vector<TunedTime>& times = table.problems[0].times;
  ASSERT_EQ(times.size(), 2U);
  EXPECT_NEAR(times[0].time_us, 40.0, 1e-9);
  EXPECT_NEAR(times[1].time_us, 42.0, 1e-9);
  EXPECT_NEAR(times[1].regret_percent, 5.0, 1e-9);
  EXPECT_NE(times[1].tie_group, times[0].tie_group);
}

TEST(TunedFile, AnAuditedOneMayBeTheFastest) {
  json document = Results().document();
  document["problems"][0]["run"] = 1;
  document["problems"][0]["ranking"] = {result(kGood, 40.0)};
  document["problems"][0]["audited"] = {result(kOther, 20.0)};
  const TunedTable table = Results::read(document);
  ASSERT_EQ(table.problems.size(), 1U);
  EXPECT_EQ(table.problems[0].times[0].short_form, kOther);
  EXPECT_NEAR(table.problems[0].times[1].regret_percent, 100.0, 1e-9);
}

TEST(TunedFile, SkipsAConfigurationThatDoesNotFitAndKeepsTheRest) {
  Results results;
  results.ranking[0]["config"] =
      "(ws, FP16, 64, 64, 128, 2, 12, 3): overlap+lazy+slots_1+cluster_1";
  const TunedTable table = results.read();
  ASSERT_EQ(table.problems.size(), 1U);
  EXPECT_EQ(table.problems[0].times[0].short_form, kOther);
  EXPECT_NEAR(table.problems[0].times[0].regret_percent, 5.0, 1e-9) << "to the file's winner";
  ASSERT_EQ(table.skipped.size(), 1U);
  EXPECT_THAT(table.skipped[0].reason, testing::HasSubstr("BLOCK_M"));
}

TEST(TunedFile, SkipsAFamilyThatIsNotThere) {
  Results results;
  results.ranking[0]["family"] = "flash_sm70";
  results.ranking[1]["config"] = "nonsense";
  const TunedTable table = results.read();
  EXPECT_TRUE(table.problems.empty());
  ASSERT_EQ(table.skipped.size(), 2U);
  EXPECT_THAT(table.skipped[0].reason, testing::HasSubstr("flash_sm70"));
}

TEST(TunedFile, SkipsWhatWasMeasuredWithOtherSources) {
  json document = Results().document();
  EXPECT_FALSE(Results::read(document).problems.at(0).times[0].sources_recorded);
  document["source_hashes"] = {{"flash_sm90", "abc"}, {"flash_sm80", "def"}};
  EXPECT_TRUE(Results::read(document).problems.at(0).times[0].sources_recorded);
  document["source_hashes"]["flash_sm90"] = "def";
  const TunedTable table = Results::read(document);
  EXPECT_TRUE(table.problems.empty());
  EXPECT_EQ(table.skipped.at(0).reason, "it was measured with other sources of flash_sm90");
}

TEST(TunedFile, SkipsEstimates) {
  Results results;
  results.ranking[0]["measured"] = false;
  const TunedTable table = results.read();
  EXPECT_TRUE(table.problems.empty());
  EXPECT_EQ(table.skipped.at(0).reason, "its times are estimates");
}

TEST(TunedFile, SkipsAProblemWithoutARanking) {
  Results results;
  results.ranking = json::array();
  EXPECT_EQ(results.read().skipped.at(0).reason, "no configuration is ranked");
}

}  // namespace
}  // namespace fatune

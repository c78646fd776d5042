// Tests the summary at the end of a run over several problems.
#include "cli/program.hpp"

#include <algorithm>

namespace fatune::testing_cli {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

class Summary : public ProgramTest {
 protected:
  static std::vector<std::string> sweep(const std::string& seq, const std::string& format) {
    return {"sweep",        "--space", "prog",     "--seq", seq,       "--dhead", "128",
            "--no-emulate", "-q",      "--format", format,  "--batch", "1"};
  }
};

TEST_F(Summary, NamesTheWinnersAndTheBestForAll) {
  const std::string text = fatune(sweep("512,1024", "table")).out;
  EXPECT_THAT(text, HasSubstr("\nestimated winners of 2 problems on sm_90a (no GPU): "));
  EXPECT_LT(text.find("estimated winners"), text.find("measured: false"));
  EXPECT_THAT(text, HasSubstr("\nbest for all 2 problems of FP16 d128: (FP16, 128, 64, 64, 4): "));
  EXPECT_THAT(text, HasSubstr("% (geometric mean), at worst by "));
  EXPECT_THAT(fatune(sweep("512,1024", "md")).out,
              HasSubstr("\n| problem | winner | us | TFLOP/s | roof % | roof | lead % | tied |\n"));
}

TEST_F(Summary, JsonHasTheSameFigures) {
  const ProcessResult result = fatune(sweep("512,1024", "json"));
  expect_schema(result.out, "results");
  const json report = json::parse(result.out);
  const json& winners = report["summary"]["winners"];
  ASSERT_EQ(winners.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    const json& ranking = report["problems"][i]["ranking"];
    EXPECT_EQ(winners[i]["problem"], report["problems"][i]["problem"]);
    EXPECT_EQ(winners[i]["winner"], ranking[0]["config"]);
    EXPECT_EQ(winners[i]["time_us"], ranking[0]["time_us"]);
    const auto tied =
        std::ranges::count_if(ranking, [](const json& entry) { return entry["tie_group"] == 1; });
    EXPECT_EQ(winners[i]["tied_with"], tied - 1);
    EXPECT_EQ(winners[i]["roof"], "compute");
  }
  ASSERT_EQ(report["summary"]["best_for_all"].size(), 1U);
  EXPECT_EQ(report["summary"]["best_for_all"][0]["problems"], 2);
}

TEST_F(Summary, OfOneProblemIsASentence) {
  const std::string text = fatune(sweep("512", "table")).out;
  EXPECT_THAT(text, HasSubstr("\nestimate: fastest of 7 on b1 s512 h16 d128 FP16: (FP16, "));
  EXPECT_THAT(text, Not(HasSubstr("lead %")));
  const json summary = fatune_json(sweep("512", "json"))["summary"];
  EXPECT_EQ(summary["winners"].size(), 1U);
  EXPECT_TRUE(summary["best_for_all"].empty());
}

TEST_F(Summary, AStoredRunHasItToo) {
  use_fake_worker({{"noise_percent", 0.1}, {"us", {{"64, 64, 4", 100.0}}}});
  expect_ok(fatune(
      {"sweep", "--space", "prog", "--seq", "128,256", "--batch", "1", "--repeats", "4", "-q"}));
  const json summary = fatune_json({"show", "last", "--format", "json"})["summary"];
  EXPECT_EQ(summary["winners"].size(), 2U);
  EXPECT_GT(summary["winners"][0]["tied_with"], 0) << "all take as long";
}

}  // namespace
}  // namespace fatune::testing_cli

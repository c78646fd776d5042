// Tests `fatune export` and `fatune predict`, which need no GPU.
#include "cli/program.hpp"

#include <algorithm>
#include <fstream>

namespace fatune::testing_cli {
namespace {

using nlohmann::json;
using testing::HasSubstr;

const std::string kShippedFile = FATUNE_SOURCE_DIR "/configs/tuned/nvidia-h200.json";

class Export : public ProgramTest {
 protected:
  /// A copy of the shipped results that tests can change, with the first `problems` problems only.
  static json shipped(std::size_t problems = 100) {
    std::ifstream file(kShippedFile);
    json best = json::parse(file);
    json& list = best["problems"];
    list.erase(list.begin() + static_cast<std::ptrdiff_t>(std::min(problems, list.size())),
               list.end());
    return best;
  }

  std::string best_file(const std::string& name, const json& best) {
    write(name, best.dump());
    return path(name);
  }

  json exported(std::vector<std::string> options) {
    options.insert(options.begin(), {"export", "--format", "json"});
    return fatune_json(options);
  }
};

json& winner_of(json& best, std::size_t problem) { return best["problems"][problem]["ranking"][0]; }

TEST_F(Export, WritesTheShippedWinnersByItsSchema) {
  const ProcessResult result = fatune({"export", "--to", "json", "--out", path("table.json")});
  expect_ok(result);
  EXPECT_THAT(result.out, HasSubstr("each problem left out in turn"));
  expect_schema(read("table.json"), "export");
  const json table = json::parse(read("table.json"));
  EXPECT_GE(table["rows"].size(), 72U);
  EXPECT_EQ(table["rows"].back()["alternatives"].size(), 4U);
  EXPECT_EQ(fatune({"export", "--format", "json"}).out, read("table.json"));
}

TEST_F(Export, SaysHowGoodChoicesAreWithAProblemLeftOut) {
  const json all = exported({})["left_out"].back();
  EXPECT_EQ(all["step"], "all");
  EXPECT_GT(all["known"], 50);
  EXPECT_LT(all["median_percent"], 1.0);
}

TEST_F(Export, TakesTheFasterRowOfOneGpuAndBothOfTwo) {
  json slower = shipped(1);
  winner_of(slower, 0)["time_us"] = 2.0 * winner_of(slower, 0)["time_us"].get<double>();
  json other = shipped(1);
  other["device"]["name"] = "NVIDIA H200 NVL";
  const std::string first = best_file("first.json", slower);
  const std::string second = best_file("second.json", shipped(1));
  const std::string third = best_file("third.json", other);
  const json rows = exported({"--best", first, "--best", second, "--best", third})["rows"];
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0]["gpu"], "NVIDIA H200");
  EXPECT_EQ(rows[0]["origin"], 1);
  EXPECT_EQ(rows[1]["gpu"], "NVIDIA H200 NVL");
}

TEST_F(Export, SkipsAResultThatDoesNotFitAndNotItsFile) {
  json best = shipped(2);
  winner_of(best, 0)["family"] = "flash_sm70";
  const json table = exported({"--best", best_file("best.json", best)});
  EXPECT_EQ(table["rows"].size(), 2U);
  ASSERT_EQ(table["skipped"].size(), 1U);
  EXPECT_EQ(table["skipped"][0]["reason"], "there is no kernel family flash_sm70");
  EXPECT_GT(table["rows"][0]["regret_percent"], 0.0);
  expect_schema(table.dump(), "export");
}

TEST_F(Export, ReadsResultsAndStoredRuns) {
  use_fake_worker({{"us", {{"128, 64, 64, 4", 120.0}, {"128, 128, 64, 4", 100.0}}}});
  expect_ok(fatune({"sweep", "--seq", "256,512", "--dhead", "128", "--dtype", "fp16", "--batch",
                    "1", "--space", FATUNE_SOURCE_DIR "/tests/spaces/four_shapes.json", "--db",
                    path("runs.db"), "-q", "--out", path("out")}));
  const json of_file = exported({"--best", path("out/results.json")});
  const json of_run = exported({"--run", "last", "--db", path("runs.db")});
  EXPECT_EQ(of_file["rows"].size(), 2U);
  EXPECT_EQ(of_file["rows"], of_run["rows"]);
  EXPECT_EQ(of_run["origins"][0]["name"], "last run");
  EXPECT_TRUE(of_run["rows"][0]["sources_recorded"]);
  json changed = json::parse(read("out/best_configs.json"));
  changed["source_hashes"]["flash_sm80"] = std::string(64, '0');
  expect_error(fatune({"export", "--best", best_file("changed.json", changed)}), ExitCode::bad_file,
               {"measured with other sources of flash_sm80"});
  expect_error(fatune({"export", "--run", "7", "--db", path("runs.db")}), ExitCode::usage,
               {"no run 7"});
}

TEST_F(Export, CoversTheTunedProblemsWithFewerConfigurations) {
  const json table = exported({"--cover", "5"});
  expect_schema(table.dump(), "export");
  const json& cover = table["cover"];
  EXPECT_LT(cover["configs"].size(), cover["winners"]);
  EXPECT_EQ(table["rows"].size(), exported({})["rows"].size());
  for (const json& row : table["rows"]) {
    EXPECT_LE(row["regret_percent"], 5.0) << row["problem"];
    EXPECT_TRUE(std::ranges::any_of(
        cover["configs"], [&](const json& config) { return config["config"] == row["config"]; }));
  }
  // Of few configurations, the smallest set is found.
  EXPECT_THAT(fatune({"export", "--cover", "5", "--best",
                      FATUNE_SOURCE_DIR "/configs/tuned/nvidia-h200.json"})
                  .out,
              HasSubstr("no smaller set is as good"));
  // Any configuration that is as fast as a winner may replace it. It need not be the row's first,
  // which has the best rank of the race.
  const json winners = exported({"--cover", "0"});
  EXPECT_LE(winners["cover"]["configs"].size(), cover["winners"]);
  for (const json& row : winners["rows"]) {
    EXPECT_TRUE(row["regret_percent"] == 0.0 ||
                std::ranges::any_of(
                    row["alternatives"],
                    [](const json& alternative) { return alternative["regret_percent"] == 0.0; }))
        << row["problem"];
  }
  expect_error(fatune({"export", "--cover", "-1"}), ExitCode::usage, {"--cover"});
}

TEST_F(Export, ChoosesFewConfigurationsByTheTimeOfAllCalls) {
  json best = shipped();
  json& problems = best["problems"];
  const json kind = problems[0]["problem"];
  std::erase_if(problems.get_ref<json::array_t&>(), [&](const json& one) {
    return one["problem"]["dtype"] != kind["dtype"] || one["problem"]["d_head"] != kind["d_head"] ||
           one["problem"]["causal"] != kind["causal"];
  });
  ASSERT_GE(problems.size(), 3U);
  const std::string few = "4";
  for (const std::size_t heavy : {std::size_t{0}, problems.size() - 1}) {
    for (std::size_t i = 0; i < problems.size(); ++i) {
      problems[i]["calls"] = i == heavy ? 1e6 : 1.0;
    }
    const json table = exported({"--best", best_file("called.json", best), "--max-configs", few});
    expect_schema(table.dump(), "export");
    const json& cover = table["cover"];
    EXPECT_TRUE(cover["percent"].is_null());
    EXPECT_LE(cover["configs"].size(), 4U);
    double total_us = 0.0;
    for (const json& row : table["rows"]) {
      total_us += row["calls"].get<double>() * row["time_us"].get<double>();
      if (row["calls"] == 1e6) {
        EXPECT_EQ(row["regret_percent"], 0.0);  // its calls are nearly all
      }
    }
    EXPECT_NEAR(cover["total_us"], total_us, 1e-6 * total_us);
    EXPECT_GE(cover["total_us"], cover["winners_us"]);
  }
  EXPECT_THAT(fatune({"export", "--best", path("called.json"), "--max-configs", few}).out,
              HasSubstr("all calls take"));
  expect_error(fatune({"export", "--max-configs", "1"}), ExitCode::usage,
               {"--max-configs", "have no configuration"});
  expect_error(fatune({"export", "--max-configs", "4", "--cover", "5"}), ExitCode::usage,
               {"--cover"});
}

TEST_F(Export, RefusesFilesThatItCannotRead) {
  json newer = shipped(1);
  newer["format_version"] = 3;
  expect_error(fatune({"export", "--best", best_file("newer.json", newer)}), ExitCode::bad_file,
               {"newer.json", "format_version"});
  json other = shipped(1);
  other["format"] = "fatune.history";
  expect_error(fatune({"export", "--best", best_file("other.json", other)}), ExitCode::bad_file,
               {"other.json", "\"format\"", "fatune.results, fatune.runs"});
  expect_error(fatune({"export", "--best", best_file("list.json", json::array())}),
               ExitCode::bad_file, {"list.json", "\"format\""});
  expect_error(fatune({"export", "--best", best_file("empty.json", shipped(0))}),
               ExitCode::bad_file, {"empty.json", "no tuned problem"});
  expect_error(fatune({"export", "--best", path("absent.json")}), ExitCode::bad_file,
               {"absent.json"});
  expect_error(fatune({"export", "--to", "pdf"}), ExitCode::usage, {"'pdf'", "--to"});
}

class Predict : public Export {
 protected:
  json predicted(std::vector<std::string> options, ExitCode expected = ExitCode::ok) {
    options.insert(options.begin(), {"predict", "--format", "json"});
    const json report = fatune_json(options, expected);
    expect_schema(report.dump(), "predict");
    return report["predictions"];
  }
};

TEST_F(Predict, TakesTheWinnerOfATunedProblem) {
  const json choice =
      predicted({"--seq", "4096", "--dhead", "128", "--dtype", "bf16", "--causal"})[0];
  EXPECT_EQ(choice["step"], "exact");
  EXPECT_EQ(choice["expected_regret_percent"], 0.0);
  EXPECT_EQ(choice["config"], choice["neighbours"][0]["winner"]);
}

TEST_F(Predict, ChoosesForALengthBetweenTwoTunedOnes) {
  const json choices = predicted({"--seq", "3000,6000", "--dhead", "64,128"});
  ASSERT_EQ(choices.size(), 4U);
  for (const json& choice : choices) {
    EXPECT_EQ(choice["step"], "predicted");
    EXPECT_GT(choice["regrets_known"], 100);
    EXPECT_LT(choice["expected_regret_percent"], 1.1);
    EXPECT_TRUE(choice["worst_regret_percent"].is_null()) << "some are not known";
    EXPECT_LT(choice["expected_time_error_percent"], 10.0);
    EXPECT_TRUE(choice["tuned_on"].is_null());
  }
  // 3000 positions take between the times of 2048 and of 4096.
  EXPECT_GT(choices[0]["predicted_us"], choices[0]["neighbours"][1]["time_us"]);
  EXPECT_LT(choices[0]["predicted_us"], choices[0]["neighbours"][0]["time_us"]);
}

const std::vector<std::string> kDecoding{
    "--best", kShippedFile, "--seq", "1",          "--seq-kv", "8192",    "--batch",
    "4",      "--heads",    "32",    "--kv-heads", "8",        "--dtype", "bf16"};
const std::string kMeasureDecoding =
    "fatune sweep --seq 1 --batch 4 --heads 32 --dhead 128 --dtype BF16 --seq-kv 8192 --kv-heads 8";

TEST_F(Predict, GivesNoNumberForWhatIsUnlikeAllThatWasTuned) {
  const json choice = predicted(kDecoding)[0];
  EXPECT_EQ(choice["step"], "default");
  EXPECT_TRUE(choice["tuned_on"].is_null());
  EXPECT_TRUE(choice["neighbours"].empty());
  EXPECT_TRUE(choice["expected_regret_percent"].is_null());
  EXPECT_TRUE(choice["worst_regret_percent"].is_null());
  EXPECT_EQ(choice["regrets_known"], 0);
  EXPECT_EQ(choice["untuned"], "queries: few for their keys; tuned: many for their keys");
  EXPECT_EQ(choice["measure_with"], kMeasureDecoding);
}

TEST_F(Predict, SaysInWordsWhatIsUnlikeAndHowToMeasureIt) {
  std::vector<std::string> arguments{"predict"};
  arguments.insert(arguments.end(), kDecoding.begin(), kDecoding.end());
  const ProcessResult result = fatune(arguments);
  expect_ok(result);
  EXPECT_THAT(result.out, HasSubstr("no tuned problem is like it"));
  EXPECT_THAT(result.out, HasSubstr("queries: few for their keys; tuned: many for their keys"));
  EXPECT_THAT(result.out, HasSubstr(kMeasureDecoding));
  EXPECT_THAT(result.out, testing::Not(HasSubstr("0.")));
}

TEST_F(Predict, KnowsTheRangeOfEachNumber) {
  const auto untuned = [&](std::vector<std::string> options) {
    options.insert(options.end(), {"--dhead", "128", "--dtype", "bf16", "--gpu", "h200"});
    return predicted(options)[0]["untuned"];
  };
  EXPECT_TRUE(untuned({"--seq", "3000"}).is_null());
  EXPECT_EQ(untuned({"--seq", "128", "--batch", "1", "--heads", "1"}),
            "batch x heads x queries / SMs: 0.97; tuned: 1.52 to 31775");
  EXPECT_EQ(untuned({"--seq", "4096", "--heads", "32", "--kv-heads", "1", "--batch", "8"}),
            "heads / kv_heads: 32; tuned: 1 to 8");
  EXPECT_EQ(untuned({"--seq", "4096", "--seq-kv", "8192"}), "keys / queries: 2; tuned: 1");
}

TEST_F(Predict, SaysWhereAnotherGpusTimesDecide) {
  // An H100 was tuned on this problem. That says nothing of how good choices for an H200 are.
  std::vector<std::string> options{"--seq",   "8192",    "--heads", "32",      "--kv-heads",
                                   "8",       "--batch", "1",       "--dhead", "256",
                                   "--dtype", "bf16",    "--gpu",   "h200"};
  const json choice = predicted(options)[0];
  EXPECT_EQ(choice["step"], "predicted");
  EXPECT_EQ(choice["tuned_on_gpu"], "NVIDIA H100 80GB HBM3");
  EXPECT_TRUE(choice["untuned"].is_null());
  EXPECT_TRUE(choice["expected_regret_percent"].is_null());
  options.insert(options.begin(), "predict");
  EXPECT_THAT(fatune(options).out,
              HasSubstr("predicted from times of NVIDIA H100 80GB HBM3, which has nearer tuned "
                        "problems"));
}

TEST_F(Predict, RefusesSizesThatNoKernelCanBeLaunchedFor) {
  const json choice = predicted({"--seq", "16777216", "--batch", "65535", "--heads", "65535"},
                                ExitCode::nothing_ranked)[0];
  EXPECT_EQ(choice["step"], "refused");
  EXPECT_THAT(std::string(choice["reason"]), HasSubstr("the problem is too large for it: \""));
}

TEST_F(Predict, RefusesWhatNoKernelCanDo) {
  const json choice = predicted({"--arch", "sm_80"}, ExitCode::nothing_ranked)[0];
  EXPECT_EQ(choice["step"], "refused");
  EXPECT_EQ(choice["reason"], "flash_sm90 needs sm_90a, the device is sm_80");
  EXPECT_TRUE(choice["config"].is_null());
}

TEST_F(Predict, ChoosesForTheGpuOfThisMachine) {
  use_gpu_that_never_runs_kernels();
  const json report = fatune_json(
      {"predict", "--seq", "4096", "--dhead", "128", "--best", kShippedFile, "--format", "json"});
  EXPECT_NE(report["device"]["name"], "NVIDIA H200");
  EXPECT_EQ(report["device"]["name"],
            fatune_json({"devices", "--format", "json"})["devices"][0]["name"]);
  EXPECT_EQ(report["why_device"], "the GPU of this machine");
  EXPECT_EQ(report["near_gpu"], "NVIDIA H200");
  EXPECT_EQ(report["predictions"][0]["step"], "predicted");
  EXPECT_TRUE(report["predictions"][0]["expected_regret_percent"].is_null());
  EXPECT_TRUE(report["predictions"][0]["expected_time_error_percent"].is_null());
  EXPECT_THAT(fatune({"predict", "--best", kShippedFile}).out,
              HasSubstr("nothing was tuned on it; choices are from NVIDIA H200"));
}

TEST_F(Predict, SaysWhyItChoosesForATunedGpu) {
  const json report = fatune_json({"predict", "--best", kShippedFile, "--format", "json"});
  EXPECT_EQ(report["device"]["name"], "NVIDIA H200");
  EXPECT_THAT(std::string(report["why_device"]),
              HasSubstr("this machine has none that can be used"));
  EXPECT_TRUE(report["near_gpu"].is_null());
  EXPECT_THAT(fatune({"predict", "--best", kShippedFile}).out,
              HasSubstr("for NVIDIA H200: the first GPU that problems were tuned on, since"));
}

TEST_F(Predict, ChoosesForTheGpuThatIsNamed) {
  json other = shipped(1);
  other["device"]["name"] = "NVIDIA H200 NVL";
  const std::string file = best_file("other.json", other);
  const std::vector<std::string> both{"--best", kShippedFile, "--best",  file,
                                      "--seq",  "512",        "--dhead", "64"};
  std::vector<std::string> named = both;
  named.insert(named.end(), {"--gpu", "NVIDIA H200 NVL"});
  EXPECT_EQ(predicted(both)[0]["tuned_on_gpu"], "NVIDIA H200");
  EXPECT_EQ(predicted(named)[0]["tuned_on_gpu"], "NVIDIA H200 NVL");
  named.back() = "nvl";
  EXPECT_EQ(predicted(named)[0]["tuned_on_gpu"], "NVIDIA H200 NVL");
  expect_error(fatune({"predict", "--gpu", "NVIDIA A100"}), ExitCode::usage,
               {"nothing was tuned on 'NVIDIA A100'", "NVIDIA H200 (sm_90a)", "--arch"});
  expect_error(fatune({"predict", "--best", kShippedFile, "--best", file, "--gpu", "H2"}),
               ExitCode::usage,
               {"--gpu: 'H2' is a part of several names", "NVIDIA H200, NVIDIA H200 NVL"});
}

/// Tables that have the shipped rows of decoding in BF16 at d 128 as if K and V had 8 bits. They
/// say nothing of real times.
class PredictEightBits : public Predict {
 protected:
  json as_eight_bits(const std::string& kv_dtype, const std::string& kv_scales) {
    std::ifstream file(FATUNE_SOURCE_DIR "/configs/tuned_decode/nvidia-h200.json");
    json best = json::parse(file);
    best["source_hashes"] = json::object();
    json problems = json::array();
    for (json& problem : best["problems"]) {
      json& of = problem["problem"];
      if (of["d_head"] == 128 && of["dtype"] == "BF16" && of["kv_dtype"] == "BF16" &&
          of["seq_len"] == 1 && !of["lse"]) {
        of["kv_dtype"] = kv_dtype;
        of["kv_scales"] = kv_scales;
        problems.push_back(problem);
      }
    }
    best["problems"] = problems;
    return best;
  }

  json choice(const std::string& kv_dtype, const std::string& kv_scales,
              ExitCode expected = ExitCode::ok, const std::string& page_size = "0") {
    return predicted({"--best",      path("best.json"),
                      "--gpu",       "h200",
                      "--seq",       "1",
                      "--seq-kv",    "4096",
                      "--batch",     "8",
                      "--heads",     "32",
                      "--kv-heads",  "8",
                      "--dhead",     "128",
                      "--dtype",     "bf16",
                      "--kv-dtype",  kv_dtype,
                      "--kv-scales", kv_scales,
                      "--page-size", page_size},
                     expected)[0];
  }
};

TEST_F(PredictEightBits, ChoosesByShippedRows) {
  const std::vector<std::string> problem{"--gpu",   "h200", "--seq",      "1",   "--seq-kv", "4096",
                                         "--heads", "32",   "--kv-heads", "8",   "--batch",  "8",
                                         "--dhead", "128",  "--dtype",    "bf16"};
  std::vector<std::string> e4m3 = problem;
  e4m3.insert(e4m3.end(), {"--kv-dtype", "e4m3"});
  EXPECT_EQ(predicted(e4m3)[0]["step"], "exact");
  std::vector<std::string> e5m2 = problem;
  e5m2.insert(e5m2.end(), {"--kv-dtype", "e5m2"});
  EXPECT_EQ(predicted(e5m2, ExitCode::nothing_ranked)[0]["reason"],
            "no tuned problem has K and V in E5M2 with scales of heads or all");
}

TEST_F(PredictEightBits, ChoosesByRowsOfThisType) {
  best_file("best.json", as_eight_bits("E4M3", "head"));
  EXPECT_EQ(choice("e4m3", "head")["step"], "exact");
  EXPECT_EQ(choice("e4m3", "tensor")["step"], "predicted");
  EXPECT_EQ(choice("e4m3", "token", ExitCode::nothing_ranked)["reason"],
            "no tuned problem has K and V in E4M3 with scales of each key");
  EXPECT_EQ(choice("e5m2", "head", ExitCode::nothing_ranked)["reason"],
            "no tuned problem has K and V in E5M2 with scales of heads or all");
  EXPECT_EQ(choice("bf16", "tensor", ExitCode::nothing_ranked)["reason"],
            "no tuned problem has K and V of 16 bits");
}

TEST_F(PredictEightBits, ChoosesForScalesOfPagesByThoseOfKeys) {
  best_file("best.json", as_eight_bits("E5M2", "token"));
  const json in_pages = choice("e5m2", "page", ExitCode::ok, "64");
  EXPECT_EQ(in_pages["step"], "same bucket") << "in pages, no choice is exact";
}

TEST_F(PredictEightBits, HaveRowsAndDefaultsInATable) {
  const std::string eight = best_file("eight.json", as_eight_bits("E4M3", "token"));
  const json table = exported(
      {"--best", eight, "--best", FATUNE_SOURCE_DIR "/configs/tuned_decode/nvidia-h200.json"});
  expect_schema(table.dump(), "export");
  EXPECT_TRUE(table["skipped"].empty());
  int rows = 0;
  for (const json& row : table["rows"]) {
    const bool has_key_scales = row["problem"]["kv_scales"] == "token";
    rows += has_key_scales ? 1 : 0;
    EXPECT_TRUE(!has_key_scales || row["origin"] == 0);
  }
  EXPECT_GT(rows, 20);
  int defaults = 0;
  for (const json& known : table["defaults"]) {
    EXPECT_TRUE(known["kv_dtype"] == "E4M3" || !known["key_scales"]);
    defaults += known["key_scales"] ? 1 : 0;
  }
  EXPECT_GT(defaults, 0);
}

}  // namespace
}  // namespace fatune::testing_cli

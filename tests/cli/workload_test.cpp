// Tests workloads: the command, and sweeps of one.
#include "cli/emulated_family.hpp"

namespace fatune::testing_cli {
namespace {

using nlohmann::json;
using testing::HasSubstr;

constexpr const char* kMixed =
    R"({"dtype":"BF16","batch":1,"seq_len":256,"heads":4,"d_head":128,"causal":true,"kv_heads":2,"calls":1,"time_us":50}
{"dtype":"BF16","batch":2,"seq_len":1,"heads":4,"d_head":128,"causal":false,"kv_heads":2,"seq_len_kv":700,"page_size":16,"calls":900,"time_us":45}
{"dtype":"BF16","batch":2,"seq_len":128,"heads":4,"d_head":128,"causal":true,"seq_lens":"128,7","calls":2}
)";

class WorkloadCommand : public ProgramTest {
 protected:
  std::string file(const std::string& name, std::string_view text) {
    write(name, text);
    return (folder_ / name).string();
  }
  std::string mixed() { return file("mixed.jsonl", kMixed); }
};

TEST_F(WorkloadCommand, MakesAWorkloadOfPromptsAndDecodingSteps) {
  const ProcessResult made =
      fatune(with({"workload", "from-preset"},
                  "--preset llama-3.1-8b --seq 512 --batches 1,8 --steps 256 --format jsonl"));
  expect_ok(made);
  const json shown =
      fatune_json({"workload", "show", file("w.jsonl", made.out), "--format", "json"});
  expect_schema(shown.dump(), "workload");
  ASSERT_EQ(shown["calls"].size(), 6U);  // a prompt and two halves of the steps, for each batch
  EXPECT_EQ(shown["calls"][0]["seq_len"], 512);
  EXPECT_EQ(shown["calls"][1]["seq_len_kv"], 512 + 64);
  EXPECT_EQ(shown["calls"][2]["calls"], 128.0);
  EXPECT_EQ(shown["calls"][5]["batch"], 8);
}

TEST_F(WorkloadCommand, ReadsWhatItPrints) {
  for (const std::string format : {"jsonl", "csv"}) {
    const ProcessResult once = fatune({"workload", "show", mixed(), "--format", format});
    expect_ok(once);
    const ProcessResult again =
        fatune({"workload", "show", file("again." + format, once.out), "--format", format});
    expect_ok(again);
    EXPECT_EQ(again.out, once.out);
  }
}

TEST_F(WorkloadCommand, NamesTheFileAndTheLineOfAMistake) {
  const std::string wrong = file("w.jsonl", "{\"batch\":1}\n");
  expect_error(fatune({"workload", "show", wrong}), ExitCode::bad_file,
               {"w.jsonl, line 1", "seq_len"});
  expect_error(fatune({"workload", "show", file("w.csv", "dtype,seq_len\nBF16,\xfc\n")}),
               ExitCode::bad_file, {"w.csv, row 2", "not UTF-8"});
  expect_error(fatune({"sweep", "--workload", wrong, "--seq", "64"}), ExitCode::usage,
               {"--workload", "--seq"});
  expect_error(fatune({"workload", "from-preset", "--preset", "llama-3.1-8b"}), ExitCode::usage,
               {"no length of a prompt"});
}

TEST_F(WorkloadCommand, SweepTakesTheHeaviestProblemFirstAndEachWithItsFamilies) {
  const ProcessResult result =
      fatune({"sweep", "--workload", mixed(), "--device", "none", "--no-emulate", "--no-db",
              "--max-configs", "6", "--format", "json"});
  expect_ok(result);
  expect_schema(result.out, "results");
  const json report = json::parse(result.out);
  ASSERT_EQ(report["problems"].size(), 3U);
  EXPECT_EQ(report["problems"][0]["problem"]["page_size"], 16);
  EXPECT_EQ(report["problems"][0]["calls"], 900.0);
  EXPECT_EQ(report["problems"][0]["before_us"], 45.0);
  for (const json& ranked : report["problems"][0]["ranking"]) {
    EXPECT_THAT(ranked["family"], testing::AnyOf("flash_decode", "flash_sm90"));  // in pages
  }
  const json& cost = report["summary"]["workload"];
  ASSERT_EQ(cost["calls"].size(), 3U);
  EXPECT_EQ(cost["before_us"], 900.0 * 45.0 + 50.0);
  EXPECT_GT(cost["winners_us"], 0.0);
}

TEST_F(WorkloadCommand, ReportSaysWhatTheCallsTake) {
  expect_ok(fatune({"sweep", "--workload", mixed(), "--device", "none", "--no-emulate", "--no-db",
                    "--max-configs", "6", "--out", path("results")}));
  expect_ok(fatune({"report", path("results/results.json"), "--out", path("page.html")}));
  const std::string page = read("page.html");
  EXPECT_THAT(page, HasSubstr("What all calls of the workload take"));
  EXPECT_THAT(page, HasSubstr("903 calls take"));
  EXPECT_THAT(page, HasSubstr("2 of the problems took 40.55 ms before"));
}

TEST_F(WorkloadCommand, ShardsAreBalancedByTheTimeOfAllCalls) {
  std::size_t problems = 0;
  for (const std::string shard : {"1/2", "2/2"}) {
    const json report =
        fatune_json({"sweep", "--workload", mixed(), "--device", "none", "--no-emulate", "--no-db",
                     "--max-configs", "2", "--shard", shard, "--format", "json"});
    problems += report["problems"].size();
    if (shard == "1/2") {  // the 900 calls outweigh the others
      ASSERT_EQ(report["problems"].size(), 1U);
      EXPECT_EQ(report["problems"][0]["calls"], 900.0);
    }
  }
  EXPECT_EQ(problems, 3U);
}

TEST_F(WorkloadCommand, SweepSaysWhatTheCallsTake) {
  const ProcessResult result = fatune({"sweep", "--workload", mixed(), "--device", "none",
                                       "--no-emulate", "--no-db", "--max-configs", "2", "-q"});
  expect_ok(result);
  EXPECT_THAT(result.out, HasSubstr("estimated: 903 calls take"));
  EXPECT_THAT(result.out, HasSubstr("2 of the problems took 40.55 ms before"));
}

}  // namespace
}  // namespace fatune::testing_cli

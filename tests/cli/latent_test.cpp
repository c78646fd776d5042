// Tests --latent: V that is columns of K.
#include "cli/emulated_family.hpp"

namespace fatune::testing_cli {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kLatentConfig = "(BF16, 576, 64, 64, 2, 1): parts_128";

class Latent : public ProgramTest {};

TEST_F(Latent, LeavesOutTheFamiliesThatHaveAVOfItsOwn) {
  const ProcessResult result =
      fatune(with({"sweep", "--device", "none", "--no-emulate", "--no-db", "--format", "json"},
                  "--preset deepseek-v3-mla --seq 1 --seq-kv 300 --batch 4"));
  expect_ok(result);
  EXPECT_THAT(result.err, AllOf(HasSubstr("flash_sm90 is left out: it takes no values that are "
                                          "columns of the keys"),
                                Not(HasSubstr("flash_decode is left out"))));
  expect_schema(result.out, "results");
  const json report = json::parse(result.out);
  EXPECT_EQ(report["family"], "flash_decode");
  EXPECT_EQ(report["problems"][0]["problem"]["latent"], true);
  EXPECT_EQ(report["problems"][0]["problem"]["d_head_v"], 512);
}

TEST_F(Latent, IsWhatAConfigurationOf576ColumnsImplies) {
  const json report = fatune_json({"list", "--family", "flash_decode", "--space", "latent_ci",
                                   "--arch", "sm_90a", "--seq", "1", "--format", "json"});
  EXPECT_EQ(report["kept"].size(), 3U);
  const ProcessResult shown =
      fatune(with({"debug", "--config", kLatentConfig}, "--seq 2 --seq-kv 150"));
  expect_ok(shown);
  EXPECT_THAT(shown.out, AllOf(HasSubstr("dv512 latent"), HasSubstr("all right")));
}

TEST_F(Latent, OfOtherDimensionsIsRefusedByARule) {
  const ProcessResult result =
      fatune(with({"emulate", "--config", kLatentConfig},
                  "--seq 1 --heads 2 --dhead 576 --dhead-v 256 --latent --schedules 1"));
  EXPECT_EQ(result.exit_code, static_cast<int>(ExitCode::nothing_ranked));
  EXPECT_THAT(result.out, HasSubstr("latent-dimensions: V that is columns of K is 512 of 576"));
}

TEST_F(Latent, HasNoMoreColumnsThanK) {
  expect_error(fatune(words("emulate --family flash_decode --seq 1 --dhead 64 --dhead-v 128 "
                            "--latent")),
               ExitCode::usage, {"K has 64 columns, of which V cannot be 128"});
}

// On the fake GPU, whose emulator runs the references too.
TEST_F(Latent, IsMeasuredAndReused) {
  use_fake_gpu();
  const std::vector<std::string> run =
      with({"run", "--config", kLatentConfig, "--repeats", "2", "--warmup", "0", "-q"},
           "--seq 1 --heads 2 --kv-heads 1 --seq-kv-lens 100,1 --page-size 16 --lse");
  expect_ok(fatune(run));
  const json again = fatune_json(with(run, "--reuse --format json"));
  EXPECT_EQ(again["problems"][0]["ranking"][0]["reused"], true);
  EXPECT_EQ(again["problems"][0]["problem"]["latent"], true);
}

TEST_F(Latent, IsInNoTunedTable) {
  use_gpu_that_never_runs_kernels();
  expect_ok(
      fatune(with({"run", "--config", kLatentConfig, "--repeats", "2", "--warmup", "0", "-q"},
                  "--seq 1 --heads 2 --kv-heads 1 --seq-kv 100 --best " + path("best.json"))));
  const ProcessResult exported =
      fatune({"export", "--to", "json", "--best", path("best.json"), "--out", path("out")});
  EXPECT_NE(exported.exit_code, 0);
  EXPECT_THAT(exported.out + exported.err, HasSubstr("its V is columns of K"));
  EXPECT_THAT(
      fatune(words("predict --gpu h100 --preset deepseek-v3-mla --seq 1 --seq-kv 4096")).out,
      HasSubstr("V is columns of K, as that of no tuned problem is"));
}

}  // namespace
}  // namespace fatune::testing_cli

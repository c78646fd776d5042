// Tests that no size of a problem is an internal error, or blamed on a file of fatune's own.
#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <random>
#include <utility>

#include "cli/program.hpp"

namespace fatune::testing_cli {
namespace {

using testing::AnyOf;
using testing::Eq;
using testing::HasSubstr;
using testing::Not;

using Words = std::vector<std::string>;

constexpr std::int64_t kMostSizedSeqLen = std::int64_t{1} << 24;

const Words kSizedConfigs{
    "(FP16, 128, 64, 64, 4): async+eager+swizzled+load_0_2_2_tiles+opt_softmax",
    "(ws, FP16, 128, 128, 128, 2, 8, 2): lazy+slots_1+cluster_1",
    "(ws_pp, FP16, 128, 192, 64, 1, 12, 3): lazy+slots_1+cluster_1+persistent",
    "(ws_pp, FP16, 128, 192, 64, 1, 12, 3): lazy+slots_1+cluster_1+persistent+split"};

class ProblemSizes : public ProgramTest {
 protected:
  /// Near a power of two, from 1 to `most`; each magnitude is as likely as the others.
  std::string near_power(std::int64_t most) {
    const double power = std::uniform_real_distribution(0.0, std::log2(most))(random_);
    const std::int64_t off = std::uniform_int_distribution(-1, 1)(random_);
    return std::to_string(std::clamp<std::int64_t>(std::llround(std::exp2(power)) + off, 1, most));
  }
  bool now_and_then() { return std::bernoulli_distribution(0.3)(random_); }

  Words problem() {
    Words sizes{"--seq", near_power(kMostSizedSeqLen)};
    for (const auto& [option, most] : std::initializer_list<std::pair<const char*, std::int64_t>>{
             {"--batch", 65535},
             {"--heads", 65535},
             {"--seq-kv", kMostSizedSeqLen},
             {"--window", kMostSizedSeqLen}}) {
      if (now_and_then()) {
        sizes.insert(sizes.end(), {option, near_power(most)});
      }
    }
    for (const char* flag : {"--causal", "--lse"}) {
      if (now_and_then()) {
        sizes.emplace_back(flag);
      }
    }
    return sizes;
  }

  void expect_an_answer(Words arguments, const Words& more) {
    arguments.insert(arguments.end(), more.begin(), more.end());
    const ProcessResult result = fatune(arguments);
    const std::string command = testing::PrintToString(arguments);
    EXPECT_THAT(result.exit_code, AnyOf(Eq(0), Eq(static_cast<int>(ExitCode::nothing_ranked)),
                                        Eq(static_cast<int>(ExitCode::too_large))))
        << command << result.err;
    EXPECT_THAT(result.err, Not(HasSubstr("internal error"))) << command;
    EXPECT_THAT(result.err, Not(HasSubstr("family.json"))) << command;
  }

  std::mt19937_64 random_{20261125};
};

TEST_F(ProblemSizes, HaveAnAnswerFromEveryCommandThatEstimates) {
  const Words estimate{"--device", "none", "--no-db", "--no-emulate"};
  for (int i = 0; i < 40; ++i) {
    Words run{"run", "--config", kSizedConfigs[static_cast<std::size_t>(i) % kSizedConfigs.size()]};
    run.insert(run.end(), estimate.begin(), estimate.end());
    expect_an_answer(run, problem());
  }
  for (int i = 0; i < 4; ++i) {
    const Words sizes = problem();
    Words sweep{"sweep", "--dhead", "128", "--dtype", "fp16", "--space", "64,32+hopper_ci"};
    sweep.insert(sweep.end(), estimate.begin(), estimate.end());
    expect_an_answer(sweep, sizes);
    expect_an_answer({"list", "--space", "tune_wide", "--family", "flash_sm90", "--dhead", "128"},
                     sizes);
    expect_an_answer(
        {"cases", "hopper", "--space", "hopper_ci", "--device", "none", "--no-db", "--no-emulate"},
        sizes);
  }
}

TEST_F(ProblemSizes, AreSaidToBeTooLargeForAKernelByItsOwnQuantities) {
  const ProcessResult result = fatune({"run", "--config", kSizedConfigs[2], "--seq", "1", "--batch",
                                       "65535", "--heads", "65535", "--device", "none", "--no-db"});
  EXPECT_NE(result.exit_code, 0);
  EXPECT_THAT(result.out + result.err,
              AnyOf(HasSubstr("the problem is too large for it"), HasSubstr("of GPU memory")));
  EXPECT_THAT(result.err, Not(HasSubstr("family.json")));
  const ProcessResult compiled = fatune({"compile", "--config", kSizedConfigs[2], "--seq", "1",
                                         "--batch", "65535", "--heads", "65535"});
  EXPECT_EQ(compiled.exit_code, static_cast<int>(ExitCode::nothing_ranked));
  EXPECT_THAT(compiled.out, HasSubstr("the problem is too large for it: \"batch * tile_heads\" "
                                      "gives 4294836225, outside -2147483648 to 2147483647"));
}

TEST_F(ProblemSizes, OfKernelsWhoseBlocksShareTilesAreEstimated) {
  const auto estimate_us = [&](const std::string& config) {
    const nlohmann::json report = fatune_json({"run", "--config", config, "--seq", "4096",
                                               "--device", "none", "--no-db", "--format", "json"});
    const nlohmann::json& result = report["problems"][0]["ranking"][0];
    EXPECT_EQ(result["estimated_from"], "calibration") << config;
    return result["time_us"].get<double>();
  };
  const double whole_us = estimate_us(kSizedConfigs[2]);
  const double split_us = estimate_us(kSizedConfigs[3]);
  EXPECT_NEAR(split_us / whole_us, 1.0, 0.1);  // few tiles of this problem are shared
}

}  // namespace
}  // namespace fatune::testing_cli

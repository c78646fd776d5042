// Tests problems whose Q, K and V have 8 bits, with a toy family that takes them.
#include <map>

#include "cli/emulated_family.hpp"

namespace fatune::testing_cli {
namespace {

using testing::HasSubstr;

class EightBitQueries : public ProgramTest {
 protected:
  static std::vector<std::string> of_toy(const std::string& arguments) {
    return with({}, arguments + " --kernel-dir " + kFolder);
  }
  /// The outcomes of a right kernel, and of others with mistakes, on small problems.
  std::map<std::string, std::string> outcomes(const std::string& command, const char* rows) {
    const ProcessResult result =
        fatune(with(of_toy(command + " --format json"),
                    "--config (E4M3,64,0) --config (E4M3,64,1) --config (E4M3,64,2) "
                    "--config (E4M3,64,3) --batch 1 --heads 4 --kv-heads 2 --kv-scales head "
                    "--causal --seq 9 --seq-kv 20"));
    EXPECT_EQ(result.exit_code, code_of(ExitCode::failed_outcomes)) << result.err;
    std::map<std::string, std::string> found;
    const nlohmann::json report = nlohmann::json::parse(result.out);
    for (const nlohmann::json& row : report.at(rows)) {
      std::string& outcome = found[row.at("config")];
      if (outcome.empty() || outcome == "right") {
        outcome = row.at("outcome");
      }
    }
    return found;
  }

  static constexpr const char* kFolder = FATUNE_SOURCE_DIR "/tests/families/toy_eight_bits";
  const std::map<std::string, std::string> expected_{{"(E4M3, 64, 0)", "right"},
                                                     {"(E4M3, 64, 1)", "wrong_result"},
                                                     {"(E4M3, 64, 2)", "wrong_result"},
                                                     {"(E4M3, 64, 3)", "right"}};
};

TEST_F(EightBitQueries, AreVerifiedByTheEmulator) {
  EXPECT_EQ(outcomes("emulate --schedules 1", "configs"), expected_);
}

// The fake GPU runs the reference kernels.
TEST_F(EightBitQueries, AreVerifiedOnAGpu) {
  use_fake_gpu();
  EXPECT_EQ(outcomes("check", "checks"), expected_);
}

/// The quantization errors of the checks of a right kernel, by input.
std::map<std::string, double> quantization_errors(const nlohmann::json& checks) {
  std::map<std::string, double> errors;
  for (const nlohmann::json& check : checks) {
    EXPECT_EQ(check["outcome"], "right") << check;
    if (check.contains("quantization_rms_percent")) {
      errors[check["input"]] = check["quantization_rms_percent"];
    }
  }
  return errors;
}

// The fake GPU makes unrounded inputs again and compares with them; the CPU has other numbers.
TEST_F(EightBitQueries, TellWhatTheyCostOnBothSides) {
  const auto errors = [&](const std::string& options) {
    return quantization_errors(fatune_json(with(
        of_toy("check --format json --config (E4M3,64,0) --batch 1 --heads 2 --seq 30 --seq-kv 40"),
        options))["checks"]);
  };
  const auto emulated = errors("--device none");
  use_fake_gpu();
  const auto on_gpu = errors("");
  ASSERT_EQ(emulated.size(), 1U);
  ASSERT_EQ(on_gpu.size(), 1U);
  EXPECT_GT(on_gpu.at("outliers"), 2.5);
  EXPECT_NEAR(on_gpu.at("outliers"), emulated.at("outliers"), 2.5);
  const ProcessResult run = fatune(
      of_toy("run --repeats 2 --config (E4M3,64,0) --batch 1 --heads 2 --seq 30 --seq-kv 40"));
  EXPECT_THAT(run.out, testing::ContainsRegex("stored in 8 bits: O differs by [0-9.]+ %"));
}

TEST_F(EightBitQueries, AreRefusedWithTheReason) {
  const auto refused = [&](const std::string& arguments, ExitCode code,
                           const std::vector<std::string>& parts) {
    expect_error(fatune(words(arguments)), code, parts);
  };
  const std::string toy = std::string(" --config (E4M3,64,0) --kernel-dir ") + kFolder;
  refused("sweep --family flash_sm80 --dtype e4m3 --seq 64 --arch sm_90a", ExitCode::nothing_ranked,
          {"dtype is E4M3; flash_sm80 understands FP16, BF16"});
  refused("emulate --seq 4 --kv-dtype e5m2" + toy, ExitCode::usage,
          {"K and V are E5M2 and Q is E4M3", "leave kv_dtype out"});
  refused("emulate --seq 4 --kv-scales token" + toy, ExitCode::usage,
          {"scales of keys need Q of 16 bits", "tensor, head or block"});
  refused("emulate --family flash_decode --seq 1 --seq-kv 64 --kv-dtype e4m3 --kv-scales block",
          ExitCode::usage, {"scales of blocks need Q of 8 bits", "the dtype E4M3"});
  refused("emulate --seq 4 --dtype fp16" + toy, ExitCode::usage, {"the configuration is for E4M3"});
  refused("debug --seq 4" + toy, ExitCode::usage, {"debug cannot show", "dtype E4M3"});
  EXPECT_THAT(fatune(words("emulate --seq 4 --kv-scales block" + toy)).out,
              HasSubstr("invalid         0  scales-of-heads: the kernel takes one scale for each"));
  EXPECT_THAT(fatune(words("predict --seq 512 --dhead 128 --dtype e4m3 --gpu h200")).out,
              HasSubstr("Q, K and V have 8 bits, as those of no tuned problem have"));
}

TEST_F(EightBitQueries, AreOfConfigurationsWithTheirTypeAlone) {
  EXPECT_THAT(fatune(of_toy("list")).out, HasSubstr("kept    (E4M3, 64, 0)"));
  EXPECT_THAT(fatune(of_toy("list --dtype bf16")).out,
              HasSubstr("dtype is BF16; toy_eight_bits understands E4M3"));
}

// Such a family takes no problems of 8 bits: no argument is the scales of Q.
TEST_F(EightBitQueries, NeedKernelsThatAreToldOfTheirScales) {
  std::filesystem::copy(kFolder, path("toy_eight_bits"), std::filesystem::copy_options::recursive);
  nlohmann::json family = nlohmann::json::parse(read("toy_eight_bits/family.json"));
  family["arguments"][0]["struct"].erase(4);
  write("toy_eight_bits/family.json", family.dump());
  const ProcessResult result = fatune(
      {"emulate", "--kernel-dir", path("toy_eight_bits"), "--config", "(E4M3,64,0)", "--seq", "4"});
  EXPECT_THAT(result.out, HasSubstr("toy_eight_bits takes no Q of 8 bits: its arguments have no "
                                    "tensor 'q_scales'"));
}

}  // namespace
}  // namespace fatune::testing_cli

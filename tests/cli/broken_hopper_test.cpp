// Tests flash_sm90 with mistakes: the emulator names each by its kind, its memory and its line.
#include <fstream>

#include "cli/program.hpp"

namespace fatune::testing_cli {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

const std::string kBrokenHopper = FATUNE_SOURCE_DIR "/tests/families/broken_hopper";

std::string broken_config(const std::string& mistake, const std::string& d_head = "128") {
  return "(ws_pp, FP16, " + d_head + ", 128, 32, 2, 8, 2, " + mistake +
         "): overlap+slots_1+cluster_1";
}

/// The text of the source line at "folder/file:line".
std::string line_at(const std::string& place) {
  const std::size_t colon = place.find(':');
  const std::string file = place.substr(0, colon);
  const bool own = file.rfind("broken_hopper/", 0) == 0;
  std::ifstream in(FATUNE_SOURCE_DIR + std::string(own ? "/tests/families/" : "/kernels/") + file);
  std::string line;
  for (int number = std::stoi(place.substr(colon + 1)); number > 0; --number) {
    std::getline(in, line);
  }
  return line;
}

/// The source lines of a place and of the places that it was inlined into ("a:1 < b:2").
std::string source_lines(const std::string& source) {
  std::string lines;
  std::istringstream in(source);
  for (std::string word; in >> word;) {
    lines += word == "<" ? "" : line_at(word) + "\n";
  }
  return lines;
}

struct PlantedMistake {
  const char* mistake;
  const char* kind;
  const char* memory;  ///< a prefix
  const char* text;    ///< a part of the finding's text
  const char* line;    ///< a part of the source line
  const char* other;   ///< a part of the other access's line; empty: not checked
  const char* d_head = "128";
};

class BrokenHopper : public ProgramTest, public testing::WithParamInterface<PlantedMistake> {
 protected:
  json emulated(const std::string& mistake, ExitCode expected, const std::string& d_head = "128") {
    const json report = fatune_json(
        {"emulate", "--kernel-dir", kBrokenHopper, "--config", broken_config(mistake, d_head),
         "--seq", "150", "--heads", "1", "--format", "json"},
        expected);
    return report["configs"][0];
  }

  /// A group of seven heads, whose rows are packed: nine queries fill 63 of 64 rows.
  json emulated_group(const std::string& mistake, ExitCode expected) {
    const std::string config =
        "(ws_pp, FP16, 64, 128, 32, 2, 8, 2, " + mistake + "): overlap+slots_1+cluster_1+pack_gqa";
    const json report = fatune_json(
        {"emulate", "--kernel-dir", kBrokenHopper, "--config", config, "--seq", "40", "--heads",
         "7", "--kv-heads", "1", "--batch", "1", "--causal", "--format", "json"},
        expected);
    return report["configs"][0];
  }
};

TEST_P(BrokenHopper, IsFoundAndNamedAtItsLine) {
  const PlantedMistake& planted = GetParam();
  const json row = emulated(planted.mistake, ExitCode::failed_outcomes, planted.d_head);
  EXPECT_EQ(row["outcome"], "flagged");
  ASSERT_FALSE(row["findings"].empty()) << row;
  const json& first = row["findings"][0];
  EXPECT_EQ(first["kind"], planted.kind);
  EXPECT_THAT(first["text"].get<std::string>(), HasSubstr(planted.text));
  EXPECT_THAT(source_lines(first["source"]), HasSubstr(planted.line));
  if (*planted.memory != '\0') {
    EXPECT_THAT(first["memory"].get<std::string>(), ::testing::StartsWith(planted.memory));
  }
  if (*planted.other != '\0') {
    EXPECT_THAT(source_lines(first["other"]["source"]), HasSubstr(planted.other));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Mistakes, BrokenHopper,
    testing::Values(PlantedMistake{"wrong_parity", "in_flight", "sK stage 0",
                                   "multiplies sK stage 0", "wgmma_shared<",
                                   "smem_ + Plan::key(k_.index()), map_k_"},
                    PlantedMistake{"missing_fence", "missing_wgmma_fence", "",
                                   "with no wgmma.fence since", "wgmma_shared<", ""},
                    PlantedMistake{"wrong_expect_tx", "deadlock", "",
                                   "waits for 0 of 1 arrivals and 16 bytes",
                                   "mbarrier_wait(smem_ + Plan::full_q", ""},
                    PlantedMistake{"early_release", "race", "sK stage 0", "copies to sK stage 0",
                                   "smem_ + Plan::key(k_.index()), map_k_", "wgmma_shared<"},
                    PlantedMistake{"wait_count", "pending_registers", "",
                                   "a wgmma that no thread has waited for",
                                   "mask<S::kFirstKeys>(steps.last)", ""},
                    PlantedMistake{"v_strides", "in_flight", "sV stage 1", "multiplies sV stage 1",
                                   "wgmma_registers<", "smem_ + Plan::value(v_.index()), map_v_"},
                    PlantedMistake{"missing_proxy_fence", "missing_proxy_fence", "sQ stage 0",
                                   "with no fence.proxy.async in between",
                                   "tma_store<kPassing>(map_o_", "stage_output<"},
                    PlantedMistake{"register_overwrite", "pending_registers", "", "may still read",
                                   "wgmma_registers<", ""},
                    PlantedMistake{"barrier_trip", "deadlock", "",
                                   "waits at barrier 1, where 128 of 256 threads have arrived",
                                   "named_barrier_wait(kFirstTurn", ""},
                    PlantedMistake{"unpadded_bytes", "deadlock", "",
                                   "7168 bytes have come that were not expected",
                                   "mbarrier_wait(smem_ + Plan::full_q", "", "72"},
                    PlantedMistake{"unclipped_rows", "out_of_bounds", "", "after the end of K",
                                   "map_k_", "", "72"}),
    [](const auto& test) { return std::string(test.param.mistake); });

TEST_F(BrokenHopper, IsRightWithoutAMistake) {
  for (const char* d_head : {"128", "72"}) {
    EXPECT_EQ(emulated("none", ExitCode::ok, d_head)["outcome"], "right") << d_head;
  }
}

TEST_F(BrokenHopper, PackedRowsThatAreTakenForQueriesAreWrong) {
  EXPECT_EQ(emulated_group("none", ExitCode::ok)["outcome"], "right");
  EXPECT_EQ(emulated_group("rows_as_queries", ExitCode::failed_outcomes)["outcome"],
            "wrong_result");
}

TEST_F(BrokenHopper, RowsThatNoQueryFillsMustBeCleared) {
  const json row = emulated_group("dirty_rows", ExitCode::failed_outcomes);
  const json& first = row["findings"][0];
  EXPECT_EQ(first["kind"], "uninitialised");
  EXPECT_THAT(first["text"].get<std::string>(), HasSubstr("sQ stage 0 [row 63, col 0]"));
  EXPECT_THAT(source_lines(first["source"]), HasSubstr("wgmma_shared<"));
}

TEST_F(BrokenHopper, SumsWithoutMaximaMustBeCheckedAndTheirScoresComputedAgain) {
  const auto outcome = [this](const std::string& mistake, ExitCode expected) {
    const std::string config = "(ws_pp, FP16, 64, 128, 32, 2, 8, 2, " + mistake +
                               "): overlap+lazy+slots_1+cluster_1+skip_max";
    const json report = fatune_json({"emulate", "--kernel-dir", kBrokenHopper, "--config", config,
                                     "--seq", "150", "--heads", "1", "--format", "json"},
                                    expected);
    return report["configs"][0]["outcome"].get<std::string>();
  };
  EXPECT_EQ(outcome("none", ExitCode::ok), "right");
  EXPECT_EQ(outcome("unchecked_sums", ExitCode::failed_outcomes), "wrong_result");
  EXPECT_EQ(outcome("rows_of_first_warp", ExitCode::failed_outcomes), "flagged");
}

TEST_F(BrokenHopper, KeysPastTheEndAreNamedByDebug) {
  EXPECT_EQ(emulated("tail_mask", ExitCode::failed_outcomes)["outcome"], "wrong_result");
  const ProcessResult debug =
      fatune({"debug", "--kernel-dir", kBrokenHopper, "--config", broken_config("tail_mask"),
              "--seq", "150", "--device", "none"});
  EXPECT_EQ(debug.exit_code, static_cast<int>(ExitCode::failed_outcomes));
  EXPECT_THAT(debug.out, HasSubstr("FIRST WRONG: step 0 (keys 128 to 159), S of block 0"));
  EXPECT_THAT(debug.out, HasSubstr("the mask: it lets through the score of key 150"));
}

}  // namespace
}  // namespace fatune::testing_cli

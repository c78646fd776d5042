// Tests machine code through the program: recorded listings, which need no tool, and the tool
// itself if it is installed.
#include <filesystem>

#include "cli/sass_program.hpp"
#include "exhaustive.hpp"

namespace fatune::testing_cli {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

class Sass : public SassTest {};

TEST_F(Sass, CountsByClassAndByOpcode) {
  const ProcessResult result =
      fatune({"sass", "--cubin", listing("flash.sm_80.txt"), "--format", "json"});
  expect_ok(result);
  expect_schema(result.out, "sass");
  const json report = json::parse(result.out);
  EXPECT_EQ(row_of(report["classes"], "tensor")["main_loop"], 128);
  EXPECT_EQ(row_of(report["opcodes"], "HMMA.16816.F32")["total"], 256);
  EXPECT_EQ(report["registers_per_thread"], 190);
  EXPECT_EQ(report["main_loop"]["first_address"], 0x22d0);
  EXPECT_THAT(fatune({"sass", "--cubin", listing("flash.sm_80.txt")}).out,
              HasSubstr("main loop 0x22d0-0x4230: 503 instructions, 113 of them conditional"));
  EXPECT_THAT(
      fatune({"sass", "--cubin", listing("flash.sm_80.txt"), "--opcodes", "--format", "csv"}).out,
      HasSubstr("MUFU.EX2,mufu,66,34,2,"));
}

TEST_F(Sass, TheProducersLoopStandsBesideTheMainOne) {
  const std::string file = listing("flash_sm90.sm_90a.txt");
  const ProcessResult result = fatune({"sass", "--cubin", file, "--format", "json"});
  expect_ok(result);
  expect_schema(result.out, "sass");
  const json report = json::parse(result.out);
  EXPECT_EQ(report["producer_loop"]["bulk_loads"], 2);
  EXPECT_EQ(row_of(report["classes"], "all")["producer_loop"], 71);
  EXPECT_EQ(row_of(report["opcodes"], "UTMALDG.5D")["producer_loop"], 2);
  EXPECT_EQ(row_of(report["opcodes"], "UTMALDG.5D")["main_loop"], 0);
  EXPECT_THAT(fatune({"sass", "--cubin", file}).out,
              HasSubstr("producer's loop 0x3a20-0x4240: 71 instructions, 2 of them bulk loads"));
  EXPECT_THAT(fatune({"sass", "--cubin", listing("flash.sm_80.txt")}).out,
              Not(HasSubstr("producer")));
  const json none =
      fatune_json({"sass", "--cubin", listing("flash.sm_80.txt"), "--format", "json"});
  EXPECT_TRUE(none["producer_loop"].is_null());
  EXPECT_TRUE(none["classes"][0]["producer_loop"].is_null());
  const ProcessResult diff =
      fatune({"sass", "diff", listing("flash.sm_80.txt"), file, "--format", "json"});
  expect_schema(diff.out, "sass_diff");
}

TEST_F(Sass, AFileOfSeveralKernelsNeedsAChoice) {
  const std::string file = listing("small.sm_80.txt");
  expect_error(fatune({"sass", "--cubin", file}), ExitCode::usage,
               {"3 kernels", "--function", "chosen, nested, saxpy"});
  EXPECT_THAT(fatune({"sass", "--cubin", file, "--function", "saxpy"}).out,
              HasSubstr("main loop 0x0070-0x0110: 11 instructions"));
  expect_error(fatune({"sass", "--cubin", file, "--function", "x"}), ExitCode::usage, {"'x'"});
}

TEST_F(Sass, DiffComparesCountsAndCode) {
  write("b.txt", [] {
    std::string text = "\t.section\t.text.k,\"ax\",@progbits\nk:\n";
    return text +
           "        /*0000*/  FADD R1, R2, R3 ;\n        /*0010*/  MUFU.EX2 R4, R1 ;\n"
           "        /*0020*/  EXIT ;\n";
  }());
  write("a.txt", [] {
    std::string text = "\t.section\t.text.k,\"ax\",@progbits\nk:\n";
    return text + "        /*0000*/  FADD R7, R2, R3 ;\n        /*0010*/  EXIT ;\n";
  }());
  const ProcessResult result =
      fatune({"sass", "diff", path("a.txt"), path("b.txt"), "--format", "json"});
  expect_ok(result);
  expect_schema(result.out, "sass_diff");
  const json changes = json::parse(result.out)["classes"];
  EXPECT_EQ(changes[0]["what"], "mufu");
  EXPECT_EQ(changes[0]["total_delta"], 1);
  EXPECT_EQ(changes[0]["total_relative_percent"], nullptr);
  EXPECT_THAT(fatune({"sass", "diff", path("a.txt"), path("b.txt"), "--format", "md"}).out,
              HasSubstr("| mufu | 0 | 0 | 0 | 0 | 1 | 1 | - |"));
  EXPECT_THAT(fatune({"sass", "diff", path("a.txt"), path("b.txt"), "--listing"}).out,
              HasSubstr("\n FADD R0, R1, R2\n+MUFU.EX2 R3, R0\n EXIT\n"));
}

TEST_F(Sass, GraphAndCleanTextGoToStandardOutput) {
  const std::string file = listing("wgmma.sm_90a.txt");
  EXPECT_THAT(fatune({"sass", "cfg", "--cubin", file}).out, HasSubstr("digraph \"wgmma\" {"));
  const ProcessResult clean = fatune({"sass", "clean", "--cubin", file});
  expect_ok(clean);
  EXPECT_THAT(clean.out, HasSubstr("HGMMA.64x8x16.F32 R24, gdesc[UR8], R24, gsb0;"));
  EXPECT_THAT(clean.out, Not(HasSubstr("/*")));
}

TEST_F(Sass, GraphvizDrawsTheGraph) {
  const std::string file = listing("wgmma.sm_90a.txt");
  use_tool("FATUNE_DOT", "[ \"$1\" = -Tsvg ] || exit 3\necho '<svg>'; grep digraph \"$2\"\n");
  const ProcessResult drawn = fatune({"sass", "cfg", "--cubin", file, "--format", "svg"});
  expect_ok(drawn);
  EXPECT_EQ(drawn.out, "<svg>\ndigraph \"wgmma\" {\n");
  use_tool("FATUNE_DOT", "echo 'no layout' >&2; exit 1\n");
  expect_error(fatune({"sass", "cfg", "--cubin", file, "--format", "svg"}), ExitCode::bad_file,
               {"no layout"});
  process_.environment.erase("FATUNE_DOT");
  process_.environment["PATH"] = path("empty");
  expect_error(fatune({"sass", "cfg", "--cubin", file, "--format", "svg"}), ExitCode::bad_file,
               {"graphviz", "FATUNE_DOT"});
  expect_error(fatune({"sass", "cfg", "--cubin", file, "--format", "png"}), ExitCode::usage, {});
}

TEST_F(Sass, WhatIsNoMachineCodeIsRefused) {
  write("bad", "hello");
  expect_error(fatune({"sass", "--cubin", path("bad")}), ExitCode::bad_file,
               {"bad", "nvdisasm -c"});
  expect_error(fatune({"sass", "--cubin", path("none")}), ExitCode::bad_file, {"none"});
  expect_error(fatune({"sass"}), ExitCode::usage, {"--config", "--cubin", "--artifact"});
  expect_error(fatune({"sass", "diff", "nonsense", "x"}), ExitCode::usage, {"nonsense"});
}

TEST_F(Sass, ADisassemblerThatFailsIsReportedWithItsMessage) {
  use_disassembler("echo 'unknown format' >&2; exit 9\n");
  write("k.cubin",
        "\x7f"
        "ELF rubbish");
  expect_error(fatune({"sass", "--cubin", path("k.cubin")}), ExitCode::bad_file,
               {"exit status 9", "unknown format"});
  process_.environment["FATUNE_NVDISASM"] = path("nowhere");
  expect_error(fatune({"sass", "--cubin", path("k.cubin")}), ExitCode::bad_file, {"nowhere"});
}

TEST_F(Sass, TheDisassemblerGetsTheFileAsItIsNamed) {
  use_disassembler("[ \"$1\" = -c ] || exit 3\n[ -f \"$2\" ] || exit 4\ncat '" +
                   listing("wgmma.sm_90a.txt") + "'\n");
  write("k; touch x $(y).cubin",
        "\x7f"
        "ELF rubbish");
  const ProcessResult result = fatune({"sass", "--cubin", path("k; touch x $(y).cubin")});
  expect_ok(result);
  EXPECT_FALSE(std::filesystem::exists(path("x")));
}

class LiveSassCounts : public LiveSassTest {
 protected:
  json report(const std::string& config, const char* arch) {
    return fatune_json({"sass", "--config", config, "--arch", arch, "--format", "json"});
  }
};

/// The main loop does one step of keys and values: two products of (B_r / n_warps) x B_c x d_head
/// for each warp, in instructions of 16 x 8 x 16.
TEST_F(LiveSassCounts, TheMainLoopHasTheTensorInstructionsThatTheTilesImply) {
  const json space = fatune_json({"list", "--space", "all", "--format", "json"});
  std::size_t index = 0;
  for (const json& config : space["kept"]) {
    if (!is_taken(index++, 0, 31)) {
      continue;  // all of them would take a minute
    }
    const json& p = config["parameters"];
    const int rows = p["B_r"].get<int>() / p["n_warps"].get<int>();
    const int expected =
        2 * (rows / 16) * (p["B_c"].get<int>() / 8) * (p["d_head"].get<int>() / 16);
    const char* arch = index % 2 == 0 ? "sm_80" : "sm_90a";
    const json found = report(config["config"], arch);
    const json& tensor = row_of(found["classes"], "tensor");
    EXPECT_EQ(tensor["main_loop"], expected) << config["config"] << arch;
    EXPECT_EQ(tensor["conditional"], 0) << config["config"] << arch;
    EXPECT_EQ(found["unknown_opcodes"], json::array()) << config["config"] << arch;
    EXPECT_EQ(found["irreducible_edges"], 0) << config["config"] << arch;
  }
  EXPECT_GT(index, 100U);
}

/// A consumer group has 64 rows: products of 64 x BLOCK_N x 16 and 64 x d_head x 16. The producer
/// loads K and V of one step.
TEST_F(LiveSassCounts, TheHopperKernelsLoopsAreAStepEach) {
  const json list = fatune_json({"list", "--space", "hopper_ci", "--format", "json"});
  ASSERT_FALSE(list["kept"].empty());
  for (const json& config : list["kept"]) {
    const json code = report(config["config"], "sm_90a");
    const json& p = config["parameters"];
    const json row = row_of(code["classes"], "tensor");
    // With skip_max, a warp whose sums are too great computes its scores again in the loop.
    const int again = p["skip_max"] == true ? row["conditional"].get<int>() : 0;
    EXPECT_EQ(again > 0, p["skip_max"] == true) << config["config"];
    const int tensor = row["main_loop"].get<int>() - again;
    const int step = p["d_head"].get<int>() / 16 + p["BLOCK_N"].get<int>() / 16;
    // In that case the loop also contains the steps of fewer keys.
    EXPECT_TRUE(p["short_first"] == true ? tensor > step : tensor == step)
        << config["config"] << ": " << tensor << ", " << step;
    EXPECT_EQ(code["producer_loop"]["bulk_loads"], 2) << config["config"];
    EXPECT_EQ(row_of(code["classes"], "tensor")["producer_loop"], 0) << config["config"];
    EXPECT_TRUE(code["unknown_opcodes"].empty()) << config["config"];
  }
}

TEST_F(LiveSassCounts, FamiliesOfARunAreComparedEachWithItsOwn) {
  use_fake_worker({{"noise_percent", 0.2}, {"us", {{"(ws", 95.0}, {"(FP16", 100.0}}}});
  expect_ok(fatune(
      {"run", "--seq", "256", "--batch", "1", "--heads", "1", "-q", "--config", kConfig, "--config",
       "(FP16, 128, 64, 32, 4): async+eager+swizzled+load_2_2_2_tiles", "--config",
       "(ws_pp, FP16, 128, 192, 64, 1, 12, 3): lazy+slots_1+cluster_1+persistent", "--config",
       "(ws, FP16, 128, 192, 80, 2, 12, 3): overlap+lazy+slots_2+cluster_2+persistent"}));
  const ProcessResult result = fatune({"sass", "why", "--run", "last", "--format", "json"});
  expect_ok(result);
  expect_schema(result.out, "sass_why");
  const json why = json::parse(result.out);
  EXPECT_EQ(why["family"], "flash_sm80+flash_sm90");
  EXPECT_EQ(why["configs"].size(), 4U);
  ASSERT_EQ(why["problems"].size(), 2U);
  EXPECT_EQ(why["problems"][0]["problem"], "b1 s256 h1 d128 FP16, flash_sm80");
  EXPECT_FALSE(why["effects"].empty());
  for (const json& effect : why["effects"]) {
    EXPECT_EQ(effect["family"], "flash_sm80");  // the two of flash_sm90 differ too much
  }
  EXPECT_THAT(fatune({"sass", "why", "--run", "last"}).out,
              testing::ContainsRegex("family +parameter +from"));
  EXPECT_EQ(fatune_json({"sass", "why", "--run", "last", "--family", "flash_sm90", "--format",
                         "json"})["configs"]
                .size(),
            2U);
}

TEST_F(LiveSassCounts, TheUsersLanguageDoesNotMatter) {
  const json expected = report(kConfig, "sm_80");
  process_.environment["LC_ALL"] = "de_DE.UTF-8";
  process_.environment["LANGUAGE"] = "de";
  EXPECT_EQ(report(kConfig, "sm_80"), expected);
}

TEST_F(LiveSassCounts, SpillsInTheFactsAreLocalInstructions) {
  const json spilling =
      report("(FP16, 128, 128, 128, 4): async+eager+swizzled+load_0_0_0_tiles", "sm_80");
  EXPECT_GT(spilling["spill_store_bytes"], 0);
  EXPECT_GT(row_of(spilling["classes"], "local")["total"], 0);
  const json plain = report(kConfig, "sm_80");
  EXPECT_EQ(plain["spill_store_bytes"], 0);
}

TEST_F(LiveSassCounts, WhyTellsWhatAParameterMoves) {
  const ProcessResult result = fatune({"sass", "why", "--space", "64,32", "--dtype", "fp16",
                                       "--arch", "sm_80", "--format", "json"});
  expect_ok(result);
  expect_schema(result.out, "sass_why");
  const json why = json::parse(result.out);
  EXPECT_GT(why["configs"].size(), 5U);
  EXPECT_GT(why["effects"].size(), 5U);
  EXPECT_NEAR(why["configs"][0]["per_mflop"]["tensor"].get<double>(), 1e6 / 4096, 1e-9);
  EXPECT_THAT(fatune({"sass", "why", "--space", kFewSpace, "--dtype", "fp16", "--arch", "sm_80",
                      "--top", "2"})
                  .out,
              HasSubstr("(--top 0 shows all)"));
}

TEST_F(LiveSassCounts, WhyTakesTheConfigurationsAndTimesOfARun) {
  use_gpu_that_never_runs_kernels();
  expect_ok(fatune({"run", "--config", kConfig, "--seq", "128", "--batch", "1", "--heads", "1",
                    "--repeats", "5"}));
  const ProcessResult result = fatune({"sass", "why", "--run", "last", "--format", "json"});
  expect_ok(result);
  expect_schema(result.out, "sass_why");
  const json why = json::parse(result.out);
  EXPECT_EQ(why["device"], "Fake H200");
  EXPECT_EQ(why["other_code"], 0);
  ASSERT_EQ(why["problems"].size(), 1U);
  EXPECT_EQ(why["problems"][0]["correlations"], json::array());  // one point has no correlation
  expect_error(fatune({"sass", "why", "--run", "99"}), ExitCode::usage, {"no run 99"});
}

TEST_F(LiveSassCounts, WhyCountsAnEstimatedRunAndCorrelatesNothingWithItsTimes) {
  expect_ok(fatune({"sweep", "--space", kFewSpace, "--dtype", "fp16", "--dhead", "128", "--seq",
                    "128", "--device", "none", "--no-emulate", "-q"}));
  const json why = fatune_json({"sass", "why", "--run", "last", "--format", "json"});
  EXPECT_EQ(why["configs"].size(), 2U);
  EXPECT_EQ(why["problems"], json::array());
  EXPECT_THAT(fatune({"sass", "why", "--run", "last"}).out, HasSubstr("times are estimates"));
}

}  // namespace
}  // namespace fatune::testing_cli

// Tests the kernels for decoding on the CPU: every configuration of their spaces for tests, on
// shapes that take different paths. Each problem has a part of the configurations (exhaustive.hpp).
#include <algorithm>
#include <array>
#include <set>

#include "cli/emulated_family.hpp"
#include "exhaustive.hpp"

namespace fatune::testing_cli {
namespace {

using nlohmann::json;

class EmulateDecode : public EmulatedFamily, public testing::WithParamInterface<std::size_t> {
 protected:
  EmulateDecode() : EmulatedFamily("flash_decode") {}
};

class EmulateDecodeSm80 : public EmulatedFamily, public testing::WithParamInterface<std::size_t> {
 protected:
  EmulateDecodeSm80() : EmulatedFamily("flash_decode_sm80") {}
};

// One part and several, whole and ragged steps; one tile of rows and several, groups that fill them
// and that do not; rows without keys; windows that leave out the first steps.
constexpr std::array kDecodeProblems{
    "--seq 1 --seq-kv 64 --batch 2 --heads 4 --kv-heads 2",
    "--seq 1 --seq-kv 257 --batch 3 --heads 6 --kv-heads 2 --lse",
    "--seq 1 --seq-kv 900 --batch 1 --heads 8 --kv-heads 1",
    "--seq 1 --seq-kv 512 --batch 2 --heads 3 --kv-heads 3 --layout bhsd",
    "--seq 2 --seq-kv 1 --batch 1 --heads 2 --kv-heads 1",
    "--seq 3 --seq-kv 300 --batch 1 --heads 8 --kv-heads 2 --causal --lse",
    "--seq 4 --seq-kv 200 --batch 1 --heads 5 --kv-heads 1 --causal --layout bhsd",
    "--seq 9 --seq-kv 350 --batch 1 --heads 4 --kv-heads 4 --causal --window 40 --lse",
    "--seq 4 --seq-kv 500 --batch 1 --heads 2 --kv-heads 2 --window 30",
    "--seq 16 --seq-kv 130 --batch 1 --heads 7 --kv-heads 1 --causal",
    "--seq 30 --seq-kv 20 --batch 1 --heads 6 --kv-heads 1 --causal --lse",
    "--seq 70 --seq-kv 190 --batch 1 --heads 2 --kv-heads 1",
    "--seq 1 --seq-kv-lens 257,0,1,190 --heads 4 --kv-heads 2 --lse",
    "--seq 4 --seq-kv-lens 3,400,129 --seq-kv 450 --heads 2 --kv-heads 1 --causal --lse",
    "--seq 3 --seq-kv-lens 300,64,0 --heads 2 --kv-heads 2 --window 70 --layout bhsd",
    "--seq 2 --seq-kv-lens zipf:1-500 --batch 4 --heads 8 --kv-heads 1 --causal --window 30",
    "--seq 1 --seq-kv 600 --batch 2 --heads 8 --kv-heads 2 --sinks --lse",
    "--seq 5 --seq-kv-lens 300,0,40 --heads 6 --kv-heads 1 --causal --sinks --softcap 20 --lse",
    "--seq 40 --seq-kv 210 --batch 1 --heads 4 --kv-heads 1 --causal --window 60 --softcap 5 "
    "--sinks"};

TEST_P(EmulateDecode, EveryConfigurationForTestsIsRight) {
  const std::string problem = kDecodeProblems.at(GetParam());
  expect_right(part_of(kept("ci"), GetParam(), 2), words(problem));
}

INSTANTIATE_TEST_SUITE_P(Problems, EmulateDecode,
                         testing::Range(std::size_t{0}, kDecodeProblems.size()),
                         [](const auto& test) { return name_of(kDecodeProblems.at(test.param)); });

TEST_P(EmulateDecodeSm80, EveryConfigurationForTestsIsRight) {
  const std::string problem = kDecodeProblems.at(GetParam()) + std::string(" --arch sm_80");
  expect_right(part_of(kept("ci"), GetParam(), 4), words(problem));
}

INSTANTIATE_TEST_SUITE_P(Problems, EmulateDecodeSm80,
                         testing::Range(std::size_t{0}, kDecodeProblems.size()),
                         [](const auto& test) { return name_of(kDecodeProblems.at(test.param)); });

// Tiles of 16 rows begin and end within the 40 heads of a query.
TEST_F(EmulateDecodeSm80, GroupsOfMoreHeadsThanRowsAreRight) {
  expect_right({"(BF16, 64, 16, 64, 3, 4, 2): parts_64", "(FP16, 64, 32, 64, 2, 4, 1): parts_128"},
               words("--seq 3 --seq-kv 150 --heads 40 --kv-heads 1 --causal --lse --arch sm_80"));
}

// Blocks take further parts from the counter, and some have fewer steps than there are stages.
TEST_F(EmulateDecodeSm80, MorePartsThanBlocksAreRight) {
  for (const char* timing : {"random", "lagging"}) {
    expect_right({"(FP16, 64, 16, 64, 2, 4, 1): parts_64", "(FP16, 64, 16, 32, 4, 2, 1): parts_64",
                  "(FP16, 64, 16, 64, 3, 4, 1): parts_64+shared_sums"},
                 words("--seq 1 --seq-kv-lens 192,0,1,190,64,130 --heads 36 --kv-heads 18 "
                       "--schedules 1 --arch sm_80"),
                 timing);
  }
}

// Blocks take further parts from the counter, and some parts are all of a sequence.
TEST_F(EmulateDecode, MorePartsThanBlocksAreRight) {
  expect_right({"(FP16, 64, 8, 64, 2, 1): parts_64", "(FP16, 64, 8, 64, 2, 1): parts_256"},
               words("--seq 1 --seq-kv 192 --heads 48 --kv-heads 24 --batch 4 --schedules 1"));
}

TEST_F(EmulateDecode, MorePartsThanBlocksAreRightWhateverTheLengths) {
  expect_right({"(FP16, 64, 8, 64, 2, 1): parts_64", "(FP16, 64, 8, 64, 2, 1): parts_256"},
               words("--seq 1 --seq-kv-lens 192,0,1,190,64,130 --heads 48 --kv-heads 24 "
                     "--schedules 1"));
}

// A warp keeps the lengths of up to 32 sequences in its lanes, and counts those of more.
constexpr std::array kBatchesByLanes{"32", "33", "70"};

std::vector<std::string> lengths_of(const char* batch) {
  return words(std::string("--seq 1 --seq-kv-lens zipf:0-300 --heads 4 --kv-heads 2 --schedules 1 "
                           "--batch ") +
               batch);
}

TEST_F(EmulateDecode, LengthsOfFewAndManySequencesAreRight) {
  for (const char* batch : kBatchesByLanes) {
    expect_right(
        {"(FP16, 64, 8, 64, 2, 1): parts_64", "(FP16, 64, 8, 64, 2, 1): parts_128+shared_sums"},
        lengths_of(batch));
  }
}

TEST_F(EmulateDecodeSm80, LengthsOfFewAndManySequencesAreRight) {
  for (const char* batch : kBatchesByLanes) {
    auto problem = lengths_of(batch);
    problem.insert(problem.end(), {"--arch", "sm_80"});
    expect_right({"(FP16, 64, 16, 64, 2, 4, 1): parts_64+shared_sums"}, problem);
  }
}

/// K and V in pages, with configurations whose steps have the same keys as a page, fewer and more.
struct PagedCase {
  const char* name;
  std::vector<std::string> configs;
  std::string problem;
  std::vector<int> page_sizes;
};

class EmulatePages : public EmulatedFamily, public testing::WithParamInterface<PagedCase> {
 protected:
  EmulatePages() : EmulatedFamily("flash_decode") {}
};

TEST_P(EmulatePages, AreRight) {
  const PagedCase& paged = GetParam();
  for (const int size : paged.page_sizes) {
    SCOPED_TRACE(size);
    expect_right(paged.configs, words(paged.problem + " --page-size " + std::to_string(size)));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Cases, EmulatePages,
    testing::Values(
        PagedCase{"OfAllSizes",
                  {"(FP16, 64, 8, 64, 2, 1): parts_128"},
                  "--seq 1 --seq-kv-lens 257,0,1,190 --heads 4 --kv-heads 2 --lse --schedules 1",
                  {1, 2, 4, 8, 16, 32, 64, 128, 256}},
        PagedCase{"OfLongSteps",
                  {"(BF16, 64, 16, 256, 1, 1): parts_256"},
                  "--seq 2 --seq-kv 600 --batch 1 --heads 8 --kv-heads 2 --causal --schedules 1",
                  {4, 8, 128, 256}},
        PagedCase{"WithWindows",
                  {"(BF16, 128, 8, 128, 2, 1): parts_128+shared_sums"},
                  "--seq 3 --seq-kv-lens 300,64,0,129 --heads 2 --kv-heads 2 --window 70 --layout "
                  "bhsd --schedules 1",
                  {8, 64}},
        PagedCase{"OfManyHeads",
                  {"(FP16, 256, 16, 64, 1, 1): parts_64", "(BF16, 256, 32, 64, 2, 1): parts_256"},
                  "--seq 2 --seq-kv 150 --batch 2 --heads 16 --kv-heads 2 --lse --schedules 1",
                  {8, 32}},
        PagedCase{"OfTallConsumers",
                  {"(BF16, 128, 64, 64, 2, 1): parts_128", "(BF16, 128, 128, 80, 2, 1): parts_128"},
                  "--seq 30 --seq-kv-lens 250,31,100 --heads 5 --kv-heads 1 --causal --lse "
                  "--schedules 1",
                  {8, 16}},
        PagedCase{"OfSeveralPanels",
                  {"(BF16, 128, 8, 128, 2, 1): parts_256", "(BF16, 256, 64, 64, 2, 1): parts_128"},
                  "--seq 2 --seq-kv-lens 257,0,1,190 --heads 6 --kv-heads 3 --causal --lse "
                  "--layout bhsd --schedules 1",
                  {1, 2, 4, 8, 16, 32, 64}},
        PagedCase{"OfThreeConsumers",
                  {"(FP16, 64, 192, 64, 3, 1): parts_128"},
                  "--seq 100 --seq-kv 260 --batch 1 --heads 2 --kv-heads 1 --causal --schedules 1",
                  {32, 128}},
        PagedCase{"OfMorePartsThanBlocks",
                  {"(FP16, 64, 8, 64, 2, 1): parts_64"},
                  "--seq 1 --seq-kv-lens 192,0,1,190,64,130 --heads 48 --kv-heads 24 --schedules 1",
                  {16}}),
    [](const auto& test) { return std::string(test.param.name); });

// V is columns of K: tiles of rows that a query's heads do not fill, fill, and cross; parts of one
// step, and of an odd number; more parts than blocks; pages; rows without keys.
constexpr std::array kLatentProblems{
    "--seq 1 --seq-kv 64 --batch 2 --heads 16",
    "--seq 1 --seq-kv-lens 257,0,1,190 --heads 128 --lse",
    "--seq 2 --seq-kv 300 --batch 1 --heads 48 --causal --lse",
    "--seq 1 --seq-kv-lens 150,64 --heads 64 --page-size 16 --sinks --softcap 20",
    "--seq 3 --seq-kv 200 --batch 1 --heads 16 --causal --window 70 --page-size 64 --layout bhsd",
    "--seq 1 --seq-kv-lens 200,70,130,64,192,100 --heads 100 --kv-heads 50 --schedules 1",
    "--seq 1 --seq-kv 65 --batch 70 --heads 128 --schedules 1",
    "--seq 2 --seq-kv-lens 129,300 --heads 64 --causal --page-size 16"};

// Two parts at most, whose sums are added up in clusters: lengths of one part and of none; pages;
// parts that no query sees; three tiles of rows; as many blocks as SMs, and more.
constexpr std::array kMergedProblems{
    "--seq 1 --seq-kv-lens 200,70,130,0,192,1,128 --heads 120 --kv-heads 2 --lse --sinks",
    "--seq 3 --seq-kv-lens 256,130,2,0,129 --heads 16 --causal --page-size 16 --lse",
    "--seq 5 --seq-kv 129 --batch 2 --heads 36 --causal --window 70 --layout bhsd",
    "--seq 150 --seq-kv 140 --batch 2 --heads 1 --causal --page-size 128 --sinks --softcap 20",
    "--seq 1 --seq-kv 130 --batch 66 --heads 64 --schedules 1",
    "--seq 1 --seq-kv 130 --batch 67 --heads 16 --schedules 1"};

class EmulateLatent : public EmulatedFamily, public testing::WithParamInterface<std::size_t> {
 protected:
  EmulateLatent() : EmulatedFamily("flash_decode") {}
};

std::vector<std::string> latent_words(const std::string& problem) {
  const bool names_heads = problem.find("--kv-heads") != std::string::npos;
  return words(problem + " --latent --dhead-v 512" + (names_heads ? "" : " --kv-heads 1"));
}

TEST_P(EmulateLatent, EveryConfigurationForTestsIsRight) {
  expect_right(part_of(kept("latent_ci"), GetParam(), 2),
               latent_words(kLatentProblems.at(GetParam())));
}

INSTANTIATE_TEST_SUITE_P(Problems, EmulateLatent,
                         testing::Range(std::size_t{0}, kLatentProblems.size()),
                         [](const auto& test) { return name_of(kLatentProblems.at(test.param)); });

class EmulateLatentMerged : public EmulateLatent {};

TEST_P(EmulateLatentMerged, SumsOfTwoPartsAreRight) {
  expect_right({"(FP16, 576, 64, 64, 2, 1): parts_128+shared_sums"},
               latent_words(kMergedProblems.at(GetParam())));
}

INSTANTIATE_TEST_SUITE_P(Problems, EmulateLatentMerged,
                         testing::Range(std::size_t{0}, kMergedProblems.size()),
                         [](const auto& test) { return name_of(kMergedProblems.at(test.param)); });

/// What a tuning space keeps on a problem.
class DecodeSpace : public ProgramTest {
 protected:
  json listed(const std::string& problem, const std::string& space) {
    std::vector<std::string> arguments{"list",    "--family", "flash_decode", "--arch", "sm_90a",
                                       "--space", space,      "--format",     "json"};
    for (const std::string& word : words(problem)) {
      arguments.push_back(word);
    }
    return fatune_json(arguments);
  }

  std::set<std::string> kept(const std::string& problem, const std::string& space = "tune") {
    const json list = listed(problem, space);
    std::set<std::string> configs;
    for (const json& row : list["kept"]) {
      configs.insert(row["config"]);
    }
    return configs;
  }
};

TEST_F(DecodeSpace, RulesLeaveTheLikelyWinnersAndFewOthers) {
  const std::string model = " --heads 32 --kv-heads 8 --dhead 128 --dtype bf16";
  const auto large = kept("--seq 1 --seq-kv 8192 --batch 64" + model);
  EXPECT_TRUE(large.contains("(BF16, 128, 8, 128, 2, 1): parts_8192"));
  EXPECT_LT(large.size(), 100U);
  const auto small = kept("--seq 1 --seq-kv 4096 --batch 1" + model);
  EXPECT_TRUE(small.contains("(BF16, 128, 8, 64, 2, 2): parts_256+shared_sums"));
  EXPECT_FALSE(small.contains("(BF16, 128, 8, 64, 2, 2): parts_8192")) << "as parts_4096";
  EXPECT_LT(small.size(), 120U);
  const auto speculated = kept("--seq 8 --seq-kv 8192 --batch 8" + model);
  EXPECT_TRUE(speculated.contains("(BF16, 128, 32, 64, 2, 2): parts_4096"));
  const auto many_rows = kept("--seq 64 --seq-kv 8192 --batch 8" + model);
  EXPECT_TRUE(many_rows.contains("(BF16, 128, 128, 128, 3, 1): parts_6144"));
  EXPECT_TRUE(many_rows.contains("(BF16, 128, 128, 128, 3, 1): parts_8192"));
  EXPECT_FALSE(many_rows.contains("(BF16, 128, 128, 128, 3, 1): parts_12288")) << "as parts_8192";
  EXPECT_LT(many_rows.size(), 80U);
}

TEST_F(DecodeSpace, TheWideOneHasAllOfTheUsualOneAndManyMore) {
  const std::string model = " --heads 32 --kv-heads 8 --dtype bf16";
  std::set<std::string> rules;
  for (const char* problem : {"--seq 1 --seq-kv 1024 --batch 1 --dhead 64",
                              "--seq 1 --seq-kv 8192 --batch 64 --dhead 128",
                              "--seq 8 --seq-kv 65536 --batch 8 --dhead 128 --causal",
                              "--seq 1 --seq-kv 300000 --batch 16 --dhead 256"}) {
    const auto usual = kept(problem + model);
    const auto wide = kept(problem + model, "tune_wide");
    EXPECT_TRUE(std::ranges::includes(wide, usual)) << problem;
    EXPECT_GE(wide.size(), 2 * usual.size()) << problem;
    EXPECT_LE(wide.size(), 1500U) << problem;
    const json list = listed(problem + model, "tune_wide");
    for (const json& row : list["pruned"]) {
      rules.insert(row["rule"]);
    }
  }
  EXPECT_THAT(rules,
              ::testing::ElementsAre("little-under-way", "nothing-to-share", "one-part-as-before",
                                     "parts-tiny", "rows-padded", "sms-idle"));
}

}  // namespace
}  // namespace fatune::testing_cli

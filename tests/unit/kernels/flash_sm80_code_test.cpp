// Each of the thirteen fields selects a code path. The generated PTX shows what it changes.
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/file_tree.hpp"
#include "gpu/compiler.hpp"
#include "model/device_limits.hpp"
#include "plan/config_text.hpp"
#include "plan/family.hpp"
#include "plan/planner.hpp"

namespace fatune {
namespace {

const FileTree& tree() {
  static const FileTree files;
  return files;
}

const Family& family() {
  static const Family loaded = load_family(tree(), "flash_sm80");
  return loaded;
}

const Artifact& compiled(const std::string& short_form, std::int64_t seq_len, bool causal) {
  static std::map<std::string, Artifact> done;
  const std::string key = fmt::format("{} {} {}", short_form, seq_len, causal);
  if (const auto found = done.find(key); found != done.end()) {
    return found->second;
  }
  const Config config = parse_config(family(), short_form);
  const auto value = [&](const char* name) {
    return config.values.at(find_parameter(family(), name).value());
  };
  const Problem problem{1,     seq_len, 16, value("d_head"), static_cast<DType>(value("dtype")),
                        causal};
  const Arch arch{90, '\0'};
  const DeviceLimits limits = load_device_limits(tree(), arch);
  auto result = compile(compile_request({family(), config, problem, limits}), nullptr, true);
  if (const auto* failed = std::get_if<CompileFailed>(&result)) {
    throw std::runtime_error(failed->log);
  }
  return done.emplace(key, std::get<Artifact>(std::move(result))).first->second;
}

const std::string& ptx(const std::string& short_form, std::int64_t seq_len = 1024,
                       bool causal = false) {
  return compiled(short_form, seq_len, causal).ptx;
}

int count(std::string_view text, std::string_view what) {
  int n = 0;
  for (auto at = text.find(what); at != std::string_view::npos; at = text.find(what, at + 1)) {
    ++n;
  }
  return n;
}

/// The kernel's skeleton: runs of the instructions that the fields move, as "C8 L5 M8 ...".
///   C cp.async   w wait for all   S st.shared.v4   b barrier   L ldmatrix   T ldmatrix.trans
///   M mma        v vote           ~ branch
std::string skeleton(const std::string& text) {
  static const std::vector<std::pair<std::string_view, char>> kTokens{
      {"cp.async.wait_all", 'w'}, {"cp.async.cg", 'C'}, {".x4.trans.", 'T'},
      {"ldmatrix.sync", 'L'},     {"mma.sync", 'M'},    {"st.shared.v4", 'S'},
      {"bar.sync", 'b'},          {"vote.sync", 'v'},   {"bra", '~'}};
  std::vector<std::pair<char, int>> runs;
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    const std::string_view line = std::string_view(text).substr(start, end - start);
    start = end + 1;
    for (const auto& [pattern, token] : kTokens) {
      if (line.find(pattern) == std::string_view::npos) {
        continue;
      }
      if (runs.empty() || runs.back().first != token) {
        runs.emplace_back(token, 0);
      }
      ++runs.back().second;
      break;
    }
  }
  std::string out;
  for (const auto& [token, length] : runs) {
    if (token != '~') {
      out += fmt::format("{}{}{}", out.empty() ? "" : " ", token, length);
    }
  }
  return out;
}

std::string repeat(const std::string& part, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) {
    out += (i == 0 ? "" : " ") + part;
  }
  return out;
}

const std::string kBase = "(FP16, 128, 64, 64, 4): async+eager+swizzled+load_2_2_2_tiles";

// A warp has 16 rows. Each of the 8 k16 steps of Q K^T loads one Q and four K fragments (L5) for 8
// mma. Each of the 4 steps of P V loads eight V fragments (T8) for 16 mma.
TEST(FlashSm80Code, EagerCopiesStandBeforeTheProductTheyHideBehind) {
  EXPECT_EQ(skeleton(ptx(kBase)),
            "C16 w1 b1 C8 " + repeat("L5 M8", 8) + " w1 b1 C8 " + repeat("T8 M16", 4));
}

TEST(FlashSm80Code, LazyCopiesAreWaitedForAtOnce) {
  EXPECT_EQ(skeleton(ptx("(FP16,128,64,64,4): async+swizzled+load_2_2_2_tiles")),
            "C8 b1 C8 w1 b1 " + repeat("L5 M8", 8) + " C8 w1 b1 " + repeat("T8 M16", 4));
}

TEST(FlashSm80Code, SynchronousCopiesGoThroughRegisters) {
  const std::string& text = ptx("(FP16,128,64,64,4): eager+swizzled+load_2_2_2_tiles");
  EXPECT_EQ(skeleton(text), "S16 b1 S8 " + repeat("L5 M8", 8) + " b1 S8 " + repeat("T8 M16", 4));
  EXPECT_EQ(count(text, "cp.async"), 0);
  EXPECT_GT(count(ptx(kBase), "cp.async.cg"), 0);
}

TEST(FlashSm80Code, SwizzledAddressesAreXored) {
  EXPECT_GT(count(ptx(kBase), "xor.b32"), 0);
  EXPECT_EQ(count(ptx("(FP16,128,64,64,4): async+eager+load_2_2_2_tiles"), "xor.b32"), 0);
}

TEST(FlashSm80Code, QueriesStayInRegistersWhenTheirLoadIsZero) {
  EXPECT_EQ(skeleton(ptx("(FP16,128,64,64,4): async+eager+swizzled+load_0_2_2_tiles")),
            "C16 w1 b1 L8 w1 b1 C8 " + repeat("L4 M8", 8) + " w1 b1 C8 " + repeat("T8 M16", 4));
}

TEST(FlashSm80Code, LoadCountsSayHowManyFragmentsComeTogether) {
  EXPECT_EQ(skeleton(ptx("(FP16,128,64,64,4): async+eager+swizzled+load_4_4_4_tiles")),
            "C16 w1 b1 C8 " + repeat("L10 M16", 4) + " w1 b1 C8 " + repeat("T16 M32", 2));
  EXPECT_EQ(skeleton(ptx("(FP16,128,64,64,4): async+eager+swizzled+load_0_0_0_tiles")),
            "C16 w1 b1 L8 w1 b1 C8 L32 M64 w1 b1 C8 T32 M64");
}

TEST(FlashSm80Code, DoubleBufferingLoadsOneBatchAhead) {
  EXPECT_EQ(skeleton(ptx(kBase + "+buffer")), "C16 w1 b1 C8 L10 M8 " + repeat("L5 M8", 5) +
                                                  " L5 M16 w1 b1 C8 T16 M16 " +
                                                  repeat("T8 M16", 1) + " T8 M32");
}

TEST(FlashSm80Code, OptimizedSoftmaxPeelsTheFirstTileAndVotesOnRescaling) {
  const std::string& text = ptx(kBase + "+opt_softmax");
  const std::string products = repeat("L5 M8", 8) + " w1 b1 C8 ";
  EXPECT_EQ(skeleton(text), "C16 w1 b1 C8 " + products + repeat("T8 M16", 4) + " w1 b1 C8 " +
                                products + "v1 " + repeat("T8 M16", 4));
  EXPECT_EQ(count(ptx(kBase), "vote.sync"), 0);
  // A lane has 32 scores of a tile. Both copies of the loop body have one FMA for each exponent.
  // The plain form multiplies each score first.
  EXPECT_EQ(count(text, "fma.rn.ftz.f32"), 2 * 32);
  EXPECT_GE(count(ptx(kBase), "mul.ftz.f32"), count(text, "mul.ftz.f32") / 2 + 32);
}

TEST(FlashSm80Code, DtypeChoosesTheInstructions) {
  const std::string& bf16 = ptx("(BF16,128,64,64,4): async+eager+swizzled+load_2_2_2_tiles");
  EXPECT_EQ(count(bf16, "f32.bf16.bf16.f32"), count(ptx(kBase), "f32.f16.f16.f32"));
  EXPECT_EQ(count(bf16, ".f16"), 0);
  EXPECT_EQ(count(ptx(kBase), "bf16"), 0);
}

struct TileCase {
  const char* config;
  int threads;
  int mma;  // per KV tile: 2 * rows_per_warp/16 * B_c/8 * d_head/16
};

class FlashSm80Tiles : public testing::TestWithParam<TileCase> {};

TEST_P(FlashSm80Tiles, MmaCountAndThreadsFollowTheTile) {
  const std::string& text = ptx(GetParam().config);
  EXPECT_EQ(count(text, "mma.sync"), GetParam().mma);
  EXPECT_EQ(count(text, fmt::format(".maxntid {}", GetParam().threads)), 1);
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, FlashSm80Tiles,
    testing::Values(
        TileCase{"(FP16,64,64,64,4): async+eager+swizzled+load_2_2_2_tiles", 128, 64},
        TileCase{"(FP16,128,64,32,4): async+eager+swizzled+load_2_2_2_tiles", 128, 64},
        TileCase{"(FP16,128,128,64,4): async+eager+swizzled+load_2_2_2_tiles", 128, 256},
        TileCase{"(FP16,128,128,64,8): async+eager+swizzled+load_2_2_2_tiles", 256, 128},
        TileCase{"(FP16,64,256,64,8): async+eager+swizzled+load_2_2_2_tiles", 256, 128}));

// An aligned, non-causal problem has no overhead for the others: no copy has a predicate.
TEST(FlashSm80Code, AlignedProblemsPayNothingForRaggedOnes) {
  const auto mentions_mask = [](const std::string& text) { return count(text, "0fFF800000"); };
  const std::string& aligned = ptx(kBase);
  const std::string& ragged = ptx(kBase, 1000);
  EXPECT_LT(mentions_mask(aligned), mentions_mask(ragged));
  EXPECT_EQ(count(aligned, "selp"), 0);
  EXPECT_GT(count(ptx(kBase, 1024, true), "setp"), count(aligned, "setp"));
}

TEST(FlashSm80Code, OneArtifactServesEveryAlignedLength) {
  const Config config = parse_config(family(), kBase);
  const DeviceLimits limits = load_device_limits(tree(), Arch{90, '\0'});
  const auto key = [&](std::int64_t seq_len) {
    const Problem problem{1, seq_len, 16, 128, DType::fp16, false};
    return artifact_key(compile_request({family(), config, problem, limits}));
  };
  EXPECT_EQ(key(1024), key(4096));
  EXPECT_NE(key(1024), key(1000));
}

}  // namespace
}  // namespace fatune

// Tests the kernels for decoding on random small problems, on the CPU. The exhaustive run has ten
// times as many.
#include <algorithm>
#include <array>
#include <random>

#include "cli/emulated_family.hpp"
#include "exhaustive.hpp"

namespace fatune::testing_cli {
namespace {

/// One of the kernels that all problems share: what is compiled.
struct DecodeKernel {
  const char* tuple;
  int most_heads;  // of a group
  int step_keys;
};

constexpr std::array kHopperKernels{DecodeKernel{"(FP16, 64, 8, 64, 2, 2)", 8, 64},
                                    DecodeKernel{"(BF16, 64, 16, 64, 3, 1)", 16, 64},
                                    DecodeKernel{"(BF16, 64, 32, 128, 2, 1)", 16, 128},
                                    DecodeKernel{"(BF16, 128, 8, 128, 2, 1)", 8, 128},
                                    DecodeKernel{"(FP16, 128, 16, 64, 2, 2)", 16, 64},
                                    DecodeKernel{"(BF16, 128, 64, 64, 2, 1)", 16, 64},
                                    DecodeKernel{"(FP16, 256, 16, 64, 1, 1)", 16, 64},
                                    DecodeKernel{"(BF16, 256, 32, 64, 2, 1)", 16, 64}};

// Tiles of these begin and end within the heads of a query.
constexpr std::array kSm80Kernels{DecodeKernel{"(FP16, 64, 16, 32, 4, 2, 2)", 32, 32},
                                  DecodeKernel{"(BF16, 64, 16, 64, 3, 4, 2)", 32, 64},
                                  DecodeKernel{"(FP16, 64, 64, 128, 2, 8, 1)", 32, 128},
                                  DecodeKernel{"(BF16, 128, 16, 64, 2, 4, 2)", 32, 64},
                                  DecodeKernel{"(FP16, 128, 32, 64, 2, 4, 1)", 32, 64},
                                  DecodeKernel{"(BF16, 128, 64, 64, 2, 4, 1)", 32, 64},
                                  DecodeKernel{"(FP16, 256, 16, 32, 2, 2, 1)", 32, 32}};

/// Draws numbers that are the same on every machine.
class Draw {
 public:
  explicit Draw(std::uint32_t seed) : bits_(seed) {}
  /// A number from `low` to `high`.
  int number(int low, int high) {
    return low + static_cast<int>(bits_() % static_cast<std::uint32_t>(high - low + 1));
  }
  template <typename Container>
  auto one_of(const Container& all) {
    return all.at(static_cast<std::size_t>(number(0, static_cast<int>(all.size()) - 1)));
  }
  bool one_in(int count) { return number(1, count) == 1; }
  /// A number whose size is as likely to be small as large.
  int size(int high) { return number(1, number(1, high)); }

 private:
  std::mt19937 bits_;
};

struct RandomDecode {
  std::string config;
  std::string problem;
};

std::string mask(Draw& draw) {
  const std::string causal = draw.one_in(2) ? " --causal" : "";
  return causal + (draw.one_in(4) ? " --window " + std::to_string(draw.size(300)) : "");
}

/// Up to eleven parts, some of which have one step; groups that fill the rows and that do not.
template <typename Kernels>
RandomDecode random_decode(const Kernels& kernels, std::uint32_t seed) {
  Draw draw(seed);
  const DecodeKernel kernel = draw.one_of(kernels);
  const int part_keys = std::max(64, kernel.step_keys * (draw.one_in(3) ? 4 : draw.number(1, 2)));
  const int group = draw.number(1, kernel.most_heads);
  const int kv_heads = draw.number(1, 2);
  std::string problem = "--heads " + std::to_string(group * kv_heads);
  problem += " --kv-heads " + std::to_string(kv_heads);
  problem += " --seq " + std::to_string(draw.one_in(3) ? 1 : draw.size(20));
  problem += " --seq-kv " + std::to_string(draw.one_in(4) ? draw.size(700) : draw.number(1, 700));
  problem += " --batch " + std::to_string(draw.size(3));
  problem += mask(draw);
  problem += draw.one_in(3) ? " --lse" : "";
  problem += draw.one_in(3) ? " --layout bhsd" : "";
  problem += draw.one_in(4) ? " --sinks --softcap " + std::to_string(draw.number(2, 60)) : "";
  return {std::string(kernel.tuple) + ": parts_" + std::to_string(part_keys), problem};
}

class EmulateRandomDecode : public EmulatedFamily,
                            public testing::WithParamInterface<std::uint32_t> {
 protected:
  explicit EmulateRandomDecode(const char* family = "flash_decode") : EmulatedFamily(family) {}

  /// with_pages: whether K and V of some problems are in pages
  template <typename Kernels>
  void expect_right_on_random(const Kernels& kernels, const std::string& arch,
                              bool with_pages = false) {
    constexpr std::array kPageSizes{"4", "16", "64", "128"};
    const std::uint32_t count = is_exhaustive() ? 100 : 10;
    for (std::uint32_t seed = 0; seed < count; ++seed) {
      RandomDecode drawn = random_decode(kernels, GetParam() * 1000 + seed);
      if (with_pages && seed % 3 == 2) {
        drawn.problem += std::string(" --page-size ") + kPageSizes.at(seed / 3 % kPageSizes.size());
      }
      SCOPED_TRACE(drawn.config + " " + drawn.problem);
      expect_right({drawn.config}, words(drawn.problem + " --arch " + arch));
    }
  }
};

class EmulateRandomDecodeSm80 : public EmulateRandomDecode {
 protected:
  EmulateRandomDecodeSm80() : EmulateRandomDecode("flash_decode_sm80") {}
};

TEST_P(EmulateRandomDecode, IsRightWithoutFindings) {
  expect_right_on_random(kHopperKernels, "sm_90a", true);
}

INSTANTIATE_TEST_SUITE_P(Seeds, EmulateRandomDecode, testing::Range(0U, 6U));

TEST_P(EmulateRandomDecodeSm80, IsRightWithoutFindings) {
  expect_right_on_random(kSm80Kernels, "sm_80");
}

INSTANTIATE_TEST_SUITE_P(Seeds, EmulateRandomDecodeSm80, testing::Range(0U, 4U));

}  // namespace
}  // namespace fatune::testing_cli

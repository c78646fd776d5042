// Converts all 256 codes of both 8-bit formats on the emulator, at each place of a word, to fp16.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "emulator/launch.hpp"
#include "emulator/program.hpp"
#include "emulator/ptx/parse_ptx.hpp"
#include "gpu/compiler.hpp"
#include "model/cpu_reference.hpp"
#include "unit/measure/kernel_sources.hpp"

namespace fatune {
namespace {

constexpr int kCodes = 256;

/// What a thread stores: two pairs of neighbouring elements of its word, and two of alternate ones.
using Converted = std::array<std::uint32_t, 4>;

// Byte i of thread t's word is code t + i.
constexpr const char* kKernel = R"(
#include "common/ptx_fp8.cuh"
extern "C" __global__ void convert(uint4* to) {
  const unsigned t = threadIdx.x;
  const unsigned word = (t & 255) | (t + 1 & 255) << 8 | (t + 2 & 255) << 16 | (t + 3 & 255) << 24;
  const TwoPairs near = cvt_halves_of_four<IS_E4M3>(word);
  const TwoPairs apart = alternates<IS_E4M3>(word);
  to[t] = make_uint4(near.first, near.second, apart.first, apart.second);
}
)";

/// The value of a code by the definition of its format.
double value_of(int code, bool is_e4m3) {
  const int fraction_bits = is_e4m3 ? 3 : 2;
  const int bias = is_e4m3 ? 7 : 15;
  const int magnitude = code & 0x7f;
  const int exponent = magnitude >> fraction_bits;
  const int fraction = magnitude & ((1 << fraction_bits) - 1);
  const double sign = code < 128 ? 1.0 : -1.0;
  if (magnitude == 0x7f || (!is_e4m3 && magnitude > 0x7c)) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  if (!is_e4m3 && magnitude == 0x7c) {
    return sign * std::numeric_limits<double>::infinity();
  }
  const int hidden = exponent == 0 ? 0 : 1 << fraction_bits;
  return sign * std::ldexp(hidden + fraction, std::max(exponent, 1) - bias - fraction_bits);
}

/// The parameter says whether the 8-bit elements are e4m3.
class Float8Conversions : public testing::TestWithParam<bool> {
 protected:
  static CompileRequest request() {
    auto sources = std::make_shared<SourceBundle>();
    sources->main = {"convert.cu", kKernel};
    sources->headers.push_back(read_kernel_file("common/ptx_fp8.cuh"));
    CompileRequest request;
    request.label = "conversions of 8-bit floats";
    request.sources = std::move(sources);
    request.options = {"--std=c++20", "-default-device", "--use_fast_math"};
    request.defines = {{"IS_E4M3", GetParam() ? "true" : "false"}};
    request.entry_point = "convert";
    request.arch = {90, 'a'};
    return request;
  }

  static std::vector<Converted> run() {
    const auto artifact = std::get<Artifact>(compile_to_ptx(request()));
    const PtxModule module = parse_ptx(artifact.ptx, "convert");
    const emulate::Program program =
        emulate::decode_program(module, artifact.lowered_name, "convert");
    emulate::GlobalMemory memory;
    emulate::Allocation allocation;
    allocation.name = "to";
    allocation.bytes.assign(kCodes * sizeof(Converted), 0);
    const std::uint64_t to =
        memory.allocate(std::move(allocation), emulate::GlobalMemory::Content::undefined);
    emulate::LaunchSetup setup;
    setup.grid = {1, 1, 1};
    setup.block = {kCodes, 1, 1};
    setup.parameters = {reinterpret_cast<const std::uint8_t*>(&to), sizeof to};
    EXPECT_TRUE(emulate::run_kernel(program, memory, setup).finished);
    std::vector<Converted> converted(kCodes);
    std::memcpy(converted.data(), memory.at(to).bytes.data(), kCodes * sizeof(Converted));
    return converted;
  }
};

TEST_P(Float8Conversions, AreExactForAllCodes) {
  const bool is_e4m3 = GetParam();
  // Which bytes of the word are the lower and the upper halves of the four results.
  constexpr std::array<std::array<int, 2>, 4> kBytes{{{0, 1}, {2, 3}, {0, 2}, {1, 3}}};
  const std::vector<Converted> converted = run();
  for (int thread = 0; thread < kCodes; ++thread) {
    for (std::size_t i = 0; i < 2 * kBytes.size(); ++i) {
      const int code = (thread + kBytes.at(i / 2).at(i % 2)) % kCodes;
      const std::uint32_t pair = converted.at(static_cast<std::size_t>(thread)).at(i / 2);
      const double value =
          element_value(static_cast<std::uint16_t>(i % 2 == 0 ? pair : pair >> 16), DType::fp16);
      const double expected = value_of(code, is_e4m3);
      EXPECT_TRUE(value == expected || (std::isnan(value) && std::isnan(expected)))
          << fmt::format("code {:#04x} is {}, not {}", code, expected, value);
      EXPECT_TRUE(std::isnan(value) || std::signbit(value) == std::signbit(expected));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Types, Float8Conversions, testing::Bool(),
                         [](const auto& test) { return test.param ? "e4m3" : "e5m2"; });

}  // namespace
}  // namespace fatune

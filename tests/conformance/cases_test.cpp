// Tests the table of cases and its expansion.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include <gmock/gmock.h>
#include <unistd.h>

#include "conformance/bounds.hpp"
#include "conformance/emulated_kernels.hpp"
#include "conformance/operand_values.hpp"
#include "conformance/recording.hpp"
#include "conformance/results.hpp"

namespace fatune::conformance {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> texts_of(const Row& row) {
  std::vector<std::string> texts;
  for (const Case& one : expand("group", {row})) {
    texts.push_back(one.text);
  }
  return texts;
}

TEST(ConformanceCases, ChoicesMakeOneCaseEach) {
  EXPECT_THAT(texts_of({"add.<u32|s32>", "$1", "$1 $1"}),
              ElementsAre("add.u32 %d0, %s0, %s1", "add.s32 %d0, %s0, %s1"));
  EXPECT_THAT(texts_of({"add<|.sat>.<f32|f64>", "$2", "$2"}),
              ElementsAre("add.f32 %d0, %s0", "add.f64 %d0, %s0", "add.sat.f32 %d0, %s0",
                          "add.sat.f64 %d0, %s0"));
  EXPECT_THAT(texts_of({"ld.<u8|s8> %d0, [x];\nst.$1 [x], %d0", "b32", ""}),
              ElementsAre("ld.u8 %d0, [x];\nst.u8 [x], %d0", "ld.s8 %d0, [x];\nst.s8 [x], %d0"));
}

TEST(ConformanceCases, KindsFollowTheChoices) {
  const std::vector<Case> cases = expand("group", {{"mul.wide.<u16|u32>", "wide_$1", "$1 $1"}});
  ASSERT_EQ(cases.size(), 2U);
  EXPECT_EQ(cases[0].results.at(0).storage, Storage::b32);
  EXPECT_EQ(cases[0].operands.at(1).storage, Storage::b16);
  EXPECT_EQ(cases[1].results.at(0).storage, Storage::b64);
}

TEST(ConformanceCases, NoTwoAreTheSame) {
  std::set<std::string> texts;
  for (const Case& one : all_cases()) {
    EXPECT_TRUE(texts.insert(one.text).second) << one.text;
  }
  EXPECT_GT(texts.size(), 1000U);
}

TEST(ConformanceOperands, FewerAreTheFirstOfMore) {
  for (const Case& one : all_cases()) {
    const std::vector<std::uint64_t> few = operand_values(one, 32);
    const std::vector<std::uint64_t> many = operand_values(one, 64);
    ASSERT_EQ(many.size(), 2 * few.size());
    EXPECT_TRUE(std::equal(few.begin(), few.end(), many.begin())) << one.text;
  }
}

TEST(ConformanceOperands, EveryPairOfEdgesComes) {
  const Case one = expand("group", {{"add.u32", "u32", "u32 u32"}}).at(0);
  const std::vector<std::uint64_t> values = operand_values(one, 4096);
  std::set<std::pair<std::uint64_t, std::uint64_t>> pairs;
  for (std::size_t i = 0; i < values.size(); i += 2) {
    pairs.insert({values[i], values[i + 1]});
  }
  const std::vector<std::uint64_t> edges{0, 1, 0x7fffffff, 0x80000000, 0xffffffff};
  for (const std::uint64_t a : edges) {
    for (const std::uint64_t b : edges) {
      EXPECT_TRUE(pairs.contains({a, b})) << a << ", " << b;
    }
  }
}

TEST(ConformanceResults, AreComparedBitByBitUnlessABoundIsDocumented) {
  const Case exact = expand("group", {{"add.f32", "f32", "f32 f32"}}).at(0);
  const Case close = expand("group", {{"ex2.approx.ftz.f32", "f32", "f32"}}).at(0);
  const std::vector<std::uint64_t> one{0x3f800000};
  const std::vector<std::uint64_t> next{0x3f800001};
  const std::vector<std::uint64_t> far{0x3f800010};
  const std::vector<std::uint64_t> operands{0x40000000, 0x40000000};
  EXPECT_EQ(compare(exact, operands, one, one).wrong, 0U);
  const Comparison differs = compare(exact, operands, one, next);
  ASSERT_EQ(differs.texts.size(), 1U);
  EXPECT_THAT(differs.texts[0], HasSubstr("add.f32 %d0, %s0, %s1"));
  EXPECT_THAT(differs.texts[0], HasSubstr("0x40000000 (2), 0x40000000 (2)"));
  EXPECT_THAT(differs.texts[0], HasSubstr("is 0x3f800001"));
  EXPECT_EQ(compare(close, operands, one, next).wrong, 0U);
  EXPECT_EQ(compare(close, operands, one, next).unequal, 1U);
  EXPECT_EQ(compare(close, operands, one, far).wrong, 1U);
  const std::vector<std::uint64_t> infinite{0x7f800000};
  EXPECT_EQ(compare(close, operands, infinite, one).wrong, 1U);
}

TEST(ConformanceRecording, IsReadAsItWasWritten) {
  const std::filesystem::path file =
      std::filesystem::path(testing::TempDir()) /
      ("conformance_recording_" + std::to_string(::getpid()) + ".bin");
  Recording recording;
  recording.device = "a device";
  const Case& first = all_cases().front();
  const Case& last = all_cases().back();
  recording.results[first.text] = {17, std::vector<std::uint64_t>(first.results.size(), 0x0a22)};
  recording.results[last.text] = {18, std::vector<std::uint64_t>(last.results.size(), 0x0a)};
  write_recording(file, recording);
  const Recording read = read_recording(file);
  EXPECT_EQ(read.device, "a device");
  ASSERT_EQ(read.results.size(), 2U);
  EXPECT_EQ(read.results.at(first.text).operands_hash, 17U);
  EXPECT_EQ(read.results.at(first.text).values, recording.results[first.text].values);
  EXPECT_EQ(read.results.at(last.text).values, recording.results[last.text].values);
  std::filesystem::resize_file(file, std::filesystem::file_size(file) - 2);
  EXPECT_THROW((void)read_recording(file), std::runtime_error);
  std::filesystem::remove(file);
}

}  // namespace
}  // namespace fatune::conformance

// A family's arguments, workspace, outputs and launch for one configuration.
#include <gmock/gmock.h>

#include <bit>
#include <cmath>
#include <ctime>

#include "plan/planner.hpp"
#include "unit/model/standard_arguments.hpp"
#include "unit/plan/plan_fixtures.hpp"

namespace fatune {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const Problem kCausalProblem{2, 300, 4, 128, DType::fp16, true};

json with_arguments(const json& arguments) {
  json family = fixtures::toy_json();
  family.erase("abi");
  family["arguments"] = arguments;
  return family;
}

LaunchGeometry launch_of(const json& family, const Problem& problem = kCausalProblem) {
  const Config config{"toy_attention", {5, 128, 32, 1}};
  return launch_geometry({fixtures::load_changed(family), config, problem, fixtures::h200()});
}

KernelArguments arguments_of(const json& arguments) {
  return launch_of(with_arguments(arguments)).arguments;
}

void expect_bad(const json& family, const std::vector<std::string>& parts) {
  fixtures::expect_error([&] { (void)launch_of(family); }, ExitCode::bad_file, parts);
}

TEST(FamilyArguments, WithoutThemTheAbiSaysWhatTheKernelTakes) {
  const LaunchGeometry launch = launch_of(fixtures::toy_json());
  EXPECT_EQ(launch.arguments, attention_forward_arguments(kCausalProblem));
  Problem unusual = kCausalProblem;
  unusual.lse = true;
  EXPECT_EQ(launch_of(fixtures::toy_json(), unusual).arguments,
            attention_forward_arguments(unusual));
  unusual.seq_len_kv = 500;
  EXPECT_EQ(launch_of(fixtures::toy_json(), unusual).arguments,
            attention_forward_arguments(unusual));
  EXPECT_EQ(launch.cluster, (std::array<std::int64_t, 3>{1, 1, 1}));
  EXPECT_EQ(launch.attributes, LaunchAttributes{});
}

TEST(FamilyArguments, TheStructOfTheAbiCanBeWrittenDown) {
  const KernelArguments own = arguments_of(json::parse(R"([{"struct": [
      {"name": "q", "tensor": "q"}, {"name": "k", "tensor": "k"}, {"name": "v", "tensor": "v"},
      {"name": "o", "tensor": "o"}, {"name": "batch", "int32": "batch"},
      {"name": "seq_len", "int32": "seq_len"}, {"name": "heads", "int32": "heads"},
      {"name": "softmax_scale", "float": "softmax_scale"}]}])"));
  const KernelArguments standard = attention_forward_arguments(kCausalProblem);
  ASSERT_THAT(own.list, SizeIs(1));
  EXPECT_FALSE(own.standard);
  EXPECT_EQ(own.list[0].bytes, standard.list[0].bytes);
  EXPECT_EQ(own.list[0].alignment, standard.list[0].alignment);
  EXPECT_EQ(own.list[0].scalars, standard.list[0].scalars);
  EXPECT_EQ(own.list[0].addresses, standard.list[0].addresses);
}

// Joining the conditions of all pointers to one expression took more than a minute.
TEST(FamilyArguments, ManyPointersToABufferAreReadAtOnce) {
  constexpr std::size_t kMost = 150;
  const std::clock_t start = std::clock();
  const json members(kMost, {{"name", "m"}, {"tensor", "w"}, {"when", "seq_len > 1"}});
  json family = with_arguments(json(kMost, {{"struct", members}}));
  family["workspace"] = {{{"name", "w"}, {"bytes", "64"}}};
  const Family read = fixtures::load_changed(family);
  EXPECT_EQ(read.arguments.buffers.size(), 1U);
  EXPECT_GT(read.arguments.steps.size(), kMost * kMost);
  EXPECT_LT(std::clock() - start, 30 * CLOCKS_PER_SEC);
}

TEST(FamilyArguments, ScalarsHaveTheirTypesBytes) {
  const KernelArguments arguments = arguments_of({{{"int32", "-seq_len"}},
                                                  {{"int64", "2 ^ 40"}},
                                                  {{"uint32", "umulhi_magic(3)"}},
                                                  {{"uint64", "2 ^ 53"}},
                                                  {{"float", "-inf"}},
                                                  {{"double", "softmax_scale"}},
                                                  {{"bool", "causal"}},
                                                  {{"float", "1 / 4"}},
                                                  {{"int8", "-128"}},
                                                  {{"uint8", "255"}},
                                                  {{"int16", "-2"}},
                                                  {{"uint16", "2 ^ 16 - 1"}}});
  const auto bits = [&](std::size_t i) { return arguments.list.at(i).scalars.at(0).bits; };
  EXPECT_EQ(bits(0), std::bit_cast<std::uint32_t>(-300));
  EXPECT_EQ(bits(1), std::uint64_t{1} << 40U);
  EXPECT_EQ(bits(2), 0xaaaaaaabU);
  EXPECT_EQ(bits(3), std::uint64_t{1} << 53U);
  EXPECT_EQ(bits(4), std::bit_cast<std::uint32_t>(-HUGE_VALF));
  EXPECT_EQ(bits(5), std::bit_cast<std::uint64_t>(double{1.0F / std::sqrt(128.0F)}));
  EXPECT_EQ(bits(6), 1U);
  EXPECT_EQ(arguments.list[6].bytes, 1);
  EXPECT_EQ(bits(7), std::bit_cast<std::uint32_t>(0.25F));
  EXPECT_EQ(bits(8), 0x80U);
  EXPECT_EQ(bits(9), 0xffU);
  EXPECT_EQ(bits(10), 0xfffeU);
  EXPECT_EQ(bits(11), 0xffffU);
  EXPECT_EQ(arguments.list[8].bytes, 1);
  EXPECT_EQ(arguments.list[10].bytes, 2);
}

TEST(FamilyArguments, AValueThatDoesNotFitItsTypeIsTheFamilysMistake) {
  for (const json& bad : {json{{"int32", "2 ^ 31"}}, json{{"uint32", "-1"}}, json{{"uint64", "-1"}},
                          json{{"float", "10 ^ 39"}}, json{{"int8", "128"}}, json{{"uint8", "256"}},
                          json{{"int16", "-2 ^ 15 - 1"}}, json{{"uint16", "2 ^ 16"}}}) {
    expect_bad(with_arguments(json::array({bad})), {"family.json: /arguments/0", "not a"});
  }
  expect_bad(with_arguments({{{"int32", "inf"}}}), {"/arguments/0/int32", "not a finite"});
}

TEST(FamilyArguments, StructsAreLaidOutAsInC) {
  const KernelArguments arguments = arguments_of(json::parse(R"([
      {"struct": [{"name": "a", "bool": "1"}, {"name": "b", "int32": ["1", "2", "3"]},
                  {"name": "c", "struct": [{"name": "d", "double": "1"}]},
                  {"name": "e", "tensor": "o", "offset_bytes": "64"}, {"name": "f", "bool": "0"}]},
      {"struct": [{"name": "a", "int32": "5"}], "align": "32"},
      {"struct": [{"name": "a", "uint32": "5"}, {"name": "b", "uint16": ["1", "2", "3"]}]}])"));
  ASSERT_THAT(arguments.list, SizeIs(3));
  const KernelArgument& first = arguments.list[0];
  std::vector<std::int64_t> offsets;
  for (const ScalarPiece& scalar : first.scalars) {
    offsets.push_back(scalar.offset);
  }
  EXPECT_THAT(offsets, ElementsAre(0, 4, 8, 12, 16, 32));
  EXPECT_EQ(first.scalars.at(0).type, "bool");
  EXPECT_EQ(first.scalars.at(4).type, "double");
  EXPECT_THAT(first.addresses, ElementsAre(AddressPiece{24, "o", 64}));
  EXPECT_EQ(first.bytes, 40);
  EXPECT_EQ(first.alignment, 8);
  EXPECT_EQ(first.pointer, "/arguments/0");
  EXPECT_EQ(arguments.list[1].bytes, 32);
  EXPECT_EQ(arguments.list[1].alignment, 32);
  EXPECT_EQ(arguments.list[2].bytes, 12);
  EXPECT_EQ(arguments.list[2].scalars.at(3).offset, 8);
}

TEST(FamilyArguments, WhatItsConditionExcludesIsNotThere) {
  const KernelArguments arguments = arguments_of(json::parse(R"([
      {"int32": "1", "when": "!causal"},
      {"struct": [{"name": "a", "int32": "2"}, {"name": "b", "double": "3", "when": "!causal"}],
       "when": "causal"},
      {"struct": [{"name": "a", "int32": "2", "when": "!causal"}]}])"));
  ASSERT_THAT(arguments.list, SizeIs(1));
  EXPECT_EQ(arguments.list[0].pointer, "/arguments/1");
  EXPECT_EQ(arguments.list[0].bytes, 4);
}

json tensor_map() {
  return json::parse(R"({"tensor_map": {
      "tensor": "k", "offset_bytes": "256",
      "element_type": [{"when": "dtype == 5", "value": "float16"}, {"value": "bfloat16"}],
      "sizes": ["d_head", "heads", "seq_len", "batch"],
      "strides_bytes": ["d_head * 2", "heads * d_head * 2", "seq_len * heads * d_head * 2"],
      "box": ["64", "1", "BLOCK_ROWS", "1"],
      "swizzle": "128b", "l2_promotion": "l2_256b"}})");
}

TEST(FamilyArguments, TensorMapsAreEvaluated) {
  const KernelArguments arguments = arguments_of(json::array({tensor_map()}));
  ASSERT_THAT(arguments.list, SizeIs(1));
  EXPECT_EQ(arguments.list[0].bytes, kTensorMapArgumentBytes);
  EXPECT_EQ(arguments.list[0].alignment, 64);
  const TensorMapPiece expected{0,
                                "k",
                                256,
                                "float16",
                                {128, 4, 300, 2},
                                {256, 1024, 307200},
                                {64, 1, 32, 1},
                                {1, 1, 1, 1},
                                "128b",
                                "none",
                                "l2_256b",
                                "none"};
  EXPECT_THAT(arguments.list[0].tensor_maps, ElementsAre(expected));
}

TEST(FamilyArguments, MistakesAreNamedWithTheirPointer) {
  json map = tensor_map();
  map["tensor_map"]["box"] = {"1"};
  expect_bad(with_arguments(json::array({map})), {": /arguments/0/tensor_map", "4 sizes", "1 box"});
  map = tensor_map();
  map["tensor_map"]["swizzle"] = "256b";
  expect_bad(with_arguments(json::array({map})),
             {": /arguments/0/tensor_map/swizzle", "'256b'", "128b"});
  expect_bad(with_arguments({{{"tensor", "dout"}}}), {": /arguments/0/tensor", "q, k, v, o"});
  expect_bad(with_arguments(json::array({json::object()})),
             {": /arguments/0", "does not say what it is"});
  expect_bad(with_arguments({{{"int32", "1"}, {"float", "1"}}}), {": /arguments/0", "at once"});
  expect_bad(with_arguments({{{"int32", "nope"}}}), {": /arguments/0/int32", "'nope'"});
  expect_bad(with_arguments({{{"struct", {{{"name", "a"}, {"int32", "1"}}}}, {"align", "3"}}}),
             {": /arguments/0", "power of two"});
  expect_bad(with_arguments({{{"struct", {{{"int32", "1"}}}}}}),
             {": /arguments/0/struct/0", "has no \"name\""});
  json both = fixtures::toy_json();
  both["arguments"] = {{{"tensor", "q"}}};
  expect_bad(both, {"both 'abi' and 'arguments'"});
  both.erase("abi");
  both.erase("arguments");
  expect_bad(both, {"neither 'abi' nor 'arguments'"});
}

TEST(FamilyBuffers, LogSumExpsHaveMemoryWhereAKernelIsPassedThem) {
  EXPECT_TRUE(launch_of(with_arguments({{{"tensor", "o"}}})).arguments.buffers.empty());
  const KernelArguments arguments = launch_of(with_arguments({{{"tensor", "lse"}}})).arguments;
  EXPECT_THAT(arguments.buffers,
              ElementsAre(KernelBuffer{"lse", 9600, 0, "never", "lse", "float32", {2, 4, 300}}));
}

TEST(FamilyBuffers, HaveNamesThatArgumentsMayUse) {
  json family = with_arguments({{{"tensor", "counter"}}, {{"tensor", "row_max"}}});
  family["workspace"] = json::parse(R"([{"name": "counter", "bytes": "4 * heads",
      "initial_word": "7", "clear": "before_launch"}, {"name": "scratch", "bytes": "1"}])");
  family["outputs"] = json::parse(R"([{"name": "row_max", "is": "row_max",
      "element_type": "float32", "shape": ["batch", "heads", "seq_len"]}])");
  const KernelArguments arguments = launch_of(family).arguments;
  EXPECT_THAT(
      arguments.buffers,
      ElementsAre(KernelBuffer{"counter", 16, 7, "before_launch", ""},
                  KernelBuffer{"scratch", 1, 0, "never", ""},
                  KernelBuffer{"row_max", 9600, 0, "never", "row_max", "float32", {2, 4, 300}}));
  family["outputs"][0]["shape"] = {"batch", "seq_len", "heads"};
  expect_bad(family, {"/outputs/0", "'row_max' is row_max, with 2 x 300 x 4 float32",
                      "batch x heads x seq_len, here 2 x 4 x 300", "unchecked"});
  family["outputs"][0]["shape"] = {"batch", "heads", "seq_len", "1"};
  EXPECT_EQ(launch_of(family).arguments.buffers.back().bytes, 9600);
  family["outputs"][0]["element_type"] = "float64";
  expect_bad(family, {"/outputs/0", "float64", "one float32 for each row"});
  family["outputs"][0]["is"] = "unchecked";
  EXPECT_EQ(launch_of(family).arguments.buffers.back().bytes, 19200);
  json unused = fixtures::toy_json();
  unused["workspace"] = family["workspace"];
  expect_bad(unused, {"a workspace or outputs that are not passed to the kernel"});
  family["workspace"][1]["name"] = "q";
  expect_bad(family, {": /workspace/1/name", "'q' is taken"});
  family["workspace"][1] = {{"name", "none"}, {"bytes", "0"}};
  expect_bad(family, {": /workspace/1", "gives 0, outside 1"});
}

TEST(FamilyLaunch, MayDependOnTheOccupancyOfTheMachineCode) {
  json family = with_arguments(json::parse(R"([{"int32": "resident_blocks_per_sm"}])"));
  family["launch"]["grid"] = {"min(heads * 1000, sm_count * resident_blocks_per_sm)", "1", "1"};
  const Family loaded = fixtures::load_changed(family);
  const Config config{"toy_attention", {5, 128, 32, 1}};
  EXPECT_EQ(launch_geometry({loaded, config, kCausalProblem, fixtures::h200()}).grid[0], 132);
  ResourceFacts facts;
  facts.registers_per_thread = 64;  // of 256 threads: there are registers for four blocks
  const LaunchGeometry launch =
      launch_geometry({loaded, config, kCausalProblem, fixtures::h200()}, &facts);
  EXPECT_EQ(launch.grid[0], 4 * 132);
  EXPECT_EQ(launch.arguments.list.at(0).scalars.at(0).bits, 4U);
  family["launch"]["block"] = {"256 * resident_blocks_per_sm", "1", "1"};
  expect_bad(family, {"/launch/block/0", "not a finite number"});
  family = fixtures::toy_json();
  family["defines"]["X"] = "resident_blocks_per_sm";
  expect_bad(family, {"/defines/X", "unknown name"});
}

TEST(FamilyLaunch, MayHaveClustersAndAttributes) {
  json family = fixtures::toy_json();
  family["launch"]["grid"] = {"8", "heads", "1"};
  family["launch"]["cluster"] = {"2", "4", "1"};
  family["launch"]["attributes"] = {{"cooperative", "causal"}, {"smem_carveout_percent", "50"}};
  const LaunchGeometry launch = launch_of(family);
  EXPECT_EQ(launch.cluster, (std::array<std::int64_t, 3>{2, 4, 1}));
  EXPECT_EQ(launch.attributes, (LaunchAttributes{true, false, 50}));
  family["launch"]["cluster"] = {"3", "1", "1"};
  expect_bad(family, {": /launch/cluster/0",
                      "\"3\" gives 3: clusters of blocks do not divide the grid, here 8"});
}

}  // namespace
}  // namespace fatune

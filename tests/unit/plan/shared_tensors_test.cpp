#include "plan/planner.hpp"

#include <gtest/gtest.h>

#include "unit/plan/plan_fixtures.hpp"

namespace fatune {
namespace {

using nlohmann::json;

const Problem kProblem{1, 256, 2, 64, DType::fp16, false};

/// The toy family with one shared tensor.
Family with_tensor(const json& tensor) {
  json family = fixtures::toy_json();
  family["shared_tensors"] = json::array({tensor});
  return fixtures::load_changed(family);
}

SharedTensor tensor_of(const Family& family) {
  const Config config{family.name, {5, 64, 32, 1}};
  return shared_tensors({family, config, kProblem, fixtures::h200()}).at(0);
}

json tile(const json& more = json::object()) {
  json tensor{{"name", "sK"},
              {"offset_bytes", "BLOCK_ROWS * 8"},
              {"rows", "BLOCK_ROWS"},
              {"columns", "d_head"},
              {"element_bytes", "2"}};
  tensor.update(more);
  return tensor;
}

TEST(SharedTensors, AreEmptyWhereAFamilyDeclaresNone) {
  const Family family = fixtures::load_changed(fixtures::toy_json());
  EXPECT_TRUE(
      shared_tensors({family, {family.name, {5, 64, 32, 1}}, kProblem, fixtures::h200()}).empty());
}

TEST(SharedTensors, WhatIsLeftOutIsPlainRows) {
  const SharedTensor tensor = tensor_of(with_tensor(tile()));
  EXPECT_EQ(tensor.name, "sK");
  EXPECT_EQ(tensor.offset_bytes, 256);
  EXPECT_EQ(tensor.stages, 1);
  EXPECT_EQ(tensor.stage_bytes, 32 * 128);
  EXPECT_EQ(tensor.panel_columns, 64);
  EXPECT_EQ(tensor.row_bytes, 128);
  EXPECT_EQ(tensor.swizzle_bytes, 0);
}

TEST(SharedTensors, ExpressionsMayUseEveryName) {
  const SharedTensor tensor = tensor_of(with_tensor(tile({{"stages", "UNROLL + 1"},
                                                          {"stage_bytes", "seq_len * 32"},
                                                          {"panel_columns", "d_head / 2"},
                                                          {"swizzle_bytes", "UNROLL * 64"}})));
  EXPECT_EQ(tensor.stages, 2);
  EXPECT_EQ(tensor.stage_bytes, 256 * 32);
  EXPECT_EQ(tensor.panel_columns, 32);
  EXPECT_EQ(tensor.row_bytes, 64);
  EXPECT_EQ(tensor.swizzle_bytes, 64);
  EXPECT_EQ(tensor.swizzle_rows, 2);
}

struct Mistake {
  json change;
  std::string said;
};

TEST(SharedTensors, WhatMakesNoSenseIsTheFamilysMistake) {
  const std::vector<Mistake> mistakes{
      {{{"offset_bytes", "0 - 4"}}, "gives -4, outside 0 to"},
      {{{"rows", "10000000"}}, "gives 10000000, outside 0 to"},
      {{{"columns", "0"}}, "gives 0"},
      {{{"swizzle_bytes", "48"}}, "a swizzle of 48 bytes; it must be 0, 32, 64 or 128"},
      {{{"panel_columns", "48"}}, "panels of 48 columns do not divide 64"},
      {{{"row_bytes", "100"}}, "100 bytes from row to row are less than the size of a row"},
      {{{"row_bytes", "136"}, {"swizzle_bytes", "128"}}, "does not divide rows of 136"},
      {{{"stage_bytes", "4000"}}, "less than the size of a stage"}};
  for (const Mistake& mistake : mistakes) {
    const Family family = with_tensor(tile(mistake.change));
    fixtures::expect_error([&] { (void)tensor_of(family); }, ExitCode::bad_file,
                           {"/shared_tensors/0", mistake.said});
  }
}

TEST(SharedTensors, AMisspeltMemberOrNameIsAnError) {
  fixtures::expect_error(
      [] {
        (void)with_tensor(tile({{"swizle", "128"}}));
      },
      ExitCode::bad_file, {"swizle"});
  fixtures::expect_error(
      [] {
        (void)with_tensor(tile({{"rows", "B_x"}}));
      },
      ExitCode::bad_file, {"/shared_tensors/0/rows", "B_x"});
}

}  // namespace
}  // namespace fatune

#include <gtest/gtest.h>

#include "commands/compile/compile.hpp"
#include "unit/model/standard_arguments.hpp"

namespace fatune {
namespace {

Problem grouped() {
  Problem problem{2, 100, 8, 64, DType::bf16, false};
  problem.kv_heads = 2;
  problem.seq_len_kv = 300;
  return problem;
}

TEST(LaunchJson, TensorsHaveShapeAndStridesInTheSameOrderInBothLayouts) {
  Problem problem = grouped();
  EXPECT_EQ(json_launch(problem, {})["tensors"][1].dump(),
            R"({"name":"k","element_type":"bfloat16","shape":[2,300,2,64],)"
            R"("strides":[38400,128,64,1]})");
  problem.layout = Layout::bhsd;
  problem.dtype = problem.kv_dtype = DType::fp16;
  EXPECT_EQ(json_launch(problem, {})["tensors"][3].dump(),
            R"({"name":"o","element_type":"float16","shape":[2,100,8,64],)"
            R"("strides":[51200,64,6400,1]})");
}

TEST(LaunchJson, ArgumentsAreResolved) {
  LaunchGeometry geometry;
  geometry.grid = {7, 1, 1};
  geometry.cluster = {2, 1, 1};
  geometry.arguments = attention_forward_arguments(grouped());
  const Json launch = json_launch(grouped(), geometry);
  EXPECT_EQ(launch["grid"].dump(), "[7,1,1]");
  EXPECT_EQ(launch["cluster"].dump(), "[2,1,1]");
  const Json& argument = launch["arguments"]["list"][0];
  EXPECT_EQ(argument["addresses"][1].dump(), R"({"offset":8,"tensor":"k","byte_offset":0})");
  EXPECT_EQ(argument["scalars"][1].dump(), R"({"offset":36,"bytes":4,"bits":100,"type":"int32"})");
  EXPECT_EQ(argument["scalars"][3]["bits"], 0x3E000000) << "0.125";
  EXPECT_EQ(argument["scalars"][3]["type"], "float");
  EXPECT_EQ(argument["bytes"], 56);
}

}  // namespace
}  // namespace fatune

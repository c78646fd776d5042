#include "emit/launch_json.hpp"

#include <string>

#include "attention/tensor_shape.hpp"
#include "record/record_json.hpp"

namespace fatune {
namespace {

struct NamedTensor {
  TensorRole role;
  const char* name;  ///< what the arguments call it
};
constexpr NamedTensor kNamedTensors[]{
    {TensorRole::q, "q"}, {TensorRole::k, "k"}, {TensorRole::v, "v"}, {TensorRole::o, "o"}};

Json json_tensor(const Problem& problem, const NamedTensor& tensor) {
  const TensorShape shape = tensor_shape(problem, tensor.role);
  return {{"name", tensor.name},
          {"element_type", problem.dtype == DType::fp16 ? "float16" : "bfloat16"},
          {"shape", {shape.batch, shape.rows, shape.heads, shape.columns}},
          {"strides", {shape.batch_stride, shape.row_stride, shape.head_stride, 1}}};
}

}  // namespace

Json json_launch(const Problem& problem, const LaunchGeometry& geometry) {
  Json launch = record_json(geometry);
  launch["tensors"] = json_list(
      kNamedTensors, [&](const NamedTensor& tensor) { return json_tensor(problem, tensor); });
  return launch;
}

}  // namespace fatune

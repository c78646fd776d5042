#include "measure/tensors.hpp"

namespace fatune {
namespace {

// A device address as a pointer for a kernel's argument.
template <typename T = void>
T* as_pointer(gpu::DevicePtr address) {
  return reinterpret_cast<T*>(address);
}

}  // namespace

Tensors::Tensors(const Problem& problem)
    : problem_(problem), plan_(plan_stage(problem)), arena_(plan_.tensors_bytes()) {}

gpu::DevicePtr Tensors::at(TensorRole role) const noexcept {
  return arena_.address() + static_cast<gpu::DevicePtr>(plan_.tensor_offset(role));
}

std::optional<gpu::DevicePtr> Tensors::find(std::string_view name) const {
  constexpr std::string_view kNames = "qkvo";
  const std::size_t index = name.size() == 1 ? kNames.find(name) : std::string_view::npos;
  return index == std::string_view::npos ? std::nullopt : std::optional(at(kTensorRoles.at(index)));
}

void Tensors::poison(const gpu::Stream& stream) const {
  gpu::fill_words_async(arena_.address(), kPoison, arena_.bytes() / 4, stream);
}

void Tensors::poison_output(const gpu::Stream& stream) const {
  gpu::fill_words_async(o(), kPoison, tensor_bytes(problem_, TensorRole::o) / 4, stream);
}

TensorView Tensors::view(TensorRole role) const {
  return tensor_view(problem_, role, as_pointer(at(role)));
}

TensorView tensor_view(const Problem& problem, TensorRole role, void* data) {
  const TensorShape shape = tensor_shape(problem, role);
  return {data,
          shape.batch_stride,
          shape.row_stride,
          shape.head_stride,
          static_cast<int>(shape.batch),
          static_cast<int>(shape.rows),
          static_cast<int>(shape.heads),
          static_cast<int>(shape.columns)};
}

GuardArgs Tensors::guard_args() const {
  GuardArgs args{arena_.as<const unsigned>(), {}, kPoison};
  std::uint64_t begin = 0;
  for (std::size_t i = 0; i < kTensorRoles.size(); ++i) {
    const auto tensor = static_cast<std::uint64_t>(plan_.tensor_offset(kTensorRoles.at(i)));
    args.bands[i] = {begin, tensor};
    begin = tensor + static_cast<std::uint64_t>(tensor_bytes(problem_, kTensorRoles.at(i)));
  }
  args.bands[kTensorRoles.size()] = {begin, static_cast<std::uint64_t>(arena_.bytes())};
  return args;
}

InputSumArgs Tensors::input_sum_args(InputSum* sum) const {
  const auto elements = [this](TensorRole role) {
    return static_cast<unsigned long long>(tensor_elements(problem_, role));
  };
  return {as_pointer(q()),
          as_pointer(k()),
          as_pointer(v()),
          {elements(TensorRole::q), elements(TensorRole::k), elements(TensorRole::v)},
          sum};
}

}  // namespace fatune

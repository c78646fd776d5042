#include "measure/tensors.hpp"

#include <cmath>

#include "measure/memory_plan.hpp"

namespace fatune {
namespace {

// A device address as a pointer for a kernel's argument.
template <typename T = void>
T* as_pointer(gpu::DevicePtr address) {
  return reinterpret_cast<T*>(address);
}

}  // namespace

Tensors::Tensors(const Problem& problem) : Tensors(problem, plan_stage(problem)) {}

Tensors::Tensors(const Problem& problem, const StagePlan& plan)
    : problem_(problem),
      guard_bytes_(plan.guard_bytes),
      stride_bytes_(plan.guard_bytes + plan.tensor_bytes),
      arena_(plan.tensors_bytes()) {}

gpu::DevicePtr Tensors::tensor(std::int64_t index) const noexcept {
  return arena_.address() + static_cast<gpu::DevicePtr>(guard_bytes_ + index * stride_bytes_);
}

std::optional<gpu::DevicePtr> Tensors::find(std::string_view name) const {
  constexpr std::string_view kNames = "qkvo";
  const std::size_t index = name.size() == 1 ? kNames.find(name) : std::string_view::npos;
  return index == std::string_view::npos ? std::nullopt
                                         : std::optional(tensor(static_cast<std::int64_t>(index)));
}

void Tensors::poison(const gpu::Stream& stream) const {
  gpu::fill_words_async(arena_.address(), kPoison, arena_.bytes() / 4, stream);
}

void Tensors::poison_output(const gpu::Stream& stream) const {
  gpu::fill_words_async(o(), kPoison, tensor_bytes(problem_) / 4, stream);
}

AttentionForwardArgs Tensors::attention_args() const {
  return {as_pointer(q()),
          as_pointer(k()),
          as_pointer(v()),
          as_pointer(o()),
          static_cast<int>(problem_.batch),
          static_cast<int>(problem_.seq_len),
          static_cast<int>(problem_.heads),
          1.0F / std::sqrt(static_cast<float>(problem_.d_head))};
}

GuardArgs Tensors::guard_args() const {
  return {arena_.as<const unsigned>(), static_cast<unsigned long long>(guard_bytes_),
          static_cast<unsigned long long>(tensor_bytes(problem_)),
          static_cast<unsigned long long>(stride_bytes_), kPoison};
}

InputSumArgs Tensors::input_sum_args(InputSum* sum) const {
  const AttentionForwardArgs args = attention_args();
  return {args.q, args.k, args.v, static_cast<unsigned long long>(tensor_elements(problem_)), sum};
}

}  // namespace fatune

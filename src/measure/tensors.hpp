#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "attention/problem.hpp"
#include "attention/tensor_shape.hpp"
#include "gpu/memory.hpp"
#include "measure/memory_plan.hpp"
#include "reference/measurement_args.h"

namespace fatune {

/// How the measurement kernels find the elements of a tensor that begins at `data`.
[[nodiscard]] TensorView tensor_view(const Problem& problem, TensorRole role, void* data);

/// Q, K, V and O of a problem in one allocation, with guard bands before, between and after them:
///
///   guard Q guard K guard V guard O guard
///
/// The poison is a NaN in both element types, and not the one that arithmetic produces. In O it
/// shows what was not written. In the guard bands, changed poison shows writes outside a tensor.
/// Poison that spreads into O shows reads outside a tensor.
class Tensors {
 public:
  static constexpr std::uint32_t kPoison = 0x7fa57fa5;
  static constexpr std::int64_t kGuardBands = 5;

  explicit Tensors(const Problem& problem);

  [[nodiscard]] gpu::DevicePtr at(TensorRole role) const noexcept;
  [[nodiscard]] gpu::DevicePtr q() const noexcept { return at(TensorRole::q); }
  [[nodiscard]] gpu::DevicePtr k() const noexcept { return at(TensorRole::k); }
  [[nodiscard]] gpu::DevicePtr v() const noexcept { return at(TensorRole::v); }
  [[nodiscard]] gpu::DevicePtr o() const noexcept { return at(TensorRole::o); }

  /// The address of "q", "k", "v" or "o". Empty: another name.
  [[nodiscard]] std::optional<gpu::DevicePtr> find(std::string_view name) const;

  /// Fills everything, inputs and guards included, with the poison.
  void poison(const gpu::Stream& stream) const;
  /// Fills only O with the poison.
  void poison_output(const gpu::Stream& stream) const;

  /// The view of a tensor for the measurement kernels.
  [[nodiscard]] TensorView view(TensorRole role) const;
  [[nodiscard]] GuardArgs guard_args() const;
  /// The arguments of the kernel that sums up Q, K and V into `sum`.
  [[nodiscard]] InputSumArgs input_sum_args(InputSum* sum) const;

 private:
  Problem problem_;
  StagePlan plan_;
  gpu::DeviceBuffer arena_;
};

}  // namespace fatune

#pragma once

#include <gtest/gtest.h>

#include <array>

#include "runtime/driver.hpp"
#include "runtime/facts.hpp"

namespace fatune_attention {

/// Calls a function of the fake driver, which must succeed.
template <typename... Parameters>
void call(const char* name, Parameters... parameters) {
  using Function = int (*)(Parameters...);
  ASSERT_EQ(reinterpret_cast<Function>(detail::driver_function(name))(parameters...), 0) << name;
}

/// Makes the device's context current on the calling thread.
inline void use_device(int ordinal) {
  void* context = nullptr;
  call("cuInit", 0U);
  call("cuDevicePrimaryCtxRetain", &context, ordinal);
  call("cuCtxSetCurrent", context);
}

/// What the tensors of a problem point to: device memory is host memory. Nothing reads or writes
/// it.
using TensorMemory = std::array<unsigned char, 64>;

/// The problem's usual tensors, each at an address of its own.
inline Tensors tensors_in(TensorMemory& memory, const Problem& problem) {
  Tensors tensors = detail::usual_tensors(problem);
  tensors.q.data = memory.data();
  tensors.k.data = memory.data() + 16;
  tensors.v.data = memory.data() + 32;
  tensors.o.data = memory.data() + 48;
  return tensors;
}

}  // namespace fatune_attention

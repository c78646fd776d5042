#pragma once

#include <gtest/gtest.h>

#include "runtime/driver.hpp"

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

}  // namespace fatune_attention

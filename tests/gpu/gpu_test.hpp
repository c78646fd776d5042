#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gpu/context.hpp"
#include "measure/measurer.hpp"
#include "model/device_limits.hpp"
#include "model/kernel_code.hpp"
#include "model/problem.hpp"
#include "model/report.hpp"
#include "unit/measure/print_problem.hpp"

namespace fatune {

/// A test on the first GPU. It is skipped, with the reason, if there is no usable GPU.
class GpuTest : public ::testing::Test {
 protected:
  void SetUp() override;

  [[nodiscard]] const gpu::Context& context() const { return *context_; }
  /// The limits with the memory that is free now.
  [[nodiscard]] DeviceLimits limits() const;
  [[nodiscard]] Arch arch() const { return limits_.arch; }

 private:
  DeviceLimits limits_;
  std::optional<gpu::Context> context_;
};

/// The measurement kernels of a problem, compiled for `arch` once per process.
[[nodiscard]] const Artifact& measurement_kernels(const Problem& problem, Arch arch);

/// Compiles a kernel of kernels/... or of a test. Its sources may include "common/attention_args.h"
/// and "common/ptx_convert.cuh".
[[nodiscard]] Artifact compile_test_kernel(
    const std::string& source, const std::string& entry_point, Arch arch,
    const std::vector<std::pair<std::string, std::string>>& defines = {});

/// Copies device memory to host values, and waits for the copy.
template <typename T>
[[nodiscard]] std::vector<T> read_back(gpu::DevicePtr address, std::size_t count,
                                       const gpu::Stream& stream) {
  std::vector<T> values(count);
  gpu::copy_to_host_async(values.data(), address, static_cast<std::int64_t>(count * sizeof(T)),
                          stream);
  stream.synchronize();
  return values;
}

[[nodiscard]] std::vector<double> element_values(const std::vector<std::uint16_t>& elements,
                                                 DType dtype);

}  // namespace fatune

#include "gpu/gpu_test.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "gpu/driver.hpp"
#include "measure/measurement_module.hpp"
#include "model/cpu_reference.hpp"
#include "unit/measure/kernel_sources.hpp"

namespace fatune {

void GpuTest::SetUp() {
  if (const gpu::DriverStatus& driver = gpu::probe_driver(); !driver.usable()) {
    GTEST_SKIP() << "no GPU: " << driver.problem;
  }
  const gpu::Device device = gpu::describe_device(0);
  if (!device.usable()) {
    GTEST_SKIP() << device.limits.name << ": " << device.unusable_because;
  }
  limits_ = device.limits;
  context_.emplace(0);
}

DeviceLimits GpuTest::limits() const {
  DeviceLimits now = limits_;
  now.free_memory_bytes = context_->memory().free_bytes;
  return now;
}

const Artifact& measurement_kernels(const Problem& problem, Arch arch) {
  static std::map<std::pair<DType, std::int64_t>, Artifact> compiled;
  const std::pair key{problem.dtype, problem.d_head};
  if (const auto found = compiled.find(key); found != compiled.end()) {
    return found->second;
  }
  const CompileRequest request = measurement_request(read_measurement_sources(), problem, arch);
  return compiled.emplace(key, compile_or_throw(request)).first->second;
}

Artifact compile_test_kernel(const std::string& source, const std::string& entry_point, Arch arch,
                             const std::vector<std::pair<std::string, std::string>>& defines) {
  CompileRequest request;
  request.label = entry_point;
  request.sources = std::make_shared<const SourceBundle>(SourceBundle{
      {entry_point + ".cu", source},
      {read_kernel_file("common/attention_args.h"), read_kernel_file("common/ptx_convert.cuh"),
       read_kernel_file("common/ptx_system.cuh")}});
  request.options = {"--std=c++20"};
  request.defines = defines;
  request.entry_point = entry_point;
  request.arch = arch;
  return compile_or_throw(request);
}

std::vector<double> element_values(const std::vector<std::uint16_t>& elements, DType dtype) {
  std::vector<double> values(elements.size());
  std::transform(elements.begin(), elements.end(), values.begin(),
                 [dtype](std::uint16_t bits) { return element_value(bits, dtype); });
  return values;
}

}  // namespace fatune

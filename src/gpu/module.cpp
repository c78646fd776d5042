#include "gpu/module.hpp"

#include <fmt/format.h>

#include <limits>
#include <vector>

#include "gpu/cuda_api.hpp"
#include "gpu/driver.hpp"
#include "gpu/launch_attributes.hpp"
#include "gpu/narrow.hpp"
#include "gpu/raw_handles.hpp"

namespace fatune::gpu {
namespace {

constexpr const char* kSmemText = "bytes of dynamic shared memory:";

void* load_module(std::span<const char> cubin) {
  CUmodule module = nullptr;
  check(api().cuModuleLoadData(&module, cubin.data()), "cuModuleLoadData");
  return module;
}

/// Loads the code now. If the toolkit or the driver is older than the call, the first launch loads
/// it.
void load_code([[maybe_unused]] CUfunction function) {
#if CUDA_VERSION >= 12040
  if (api().cuFuncLoad != nullptr) {
    check(api().cuFuncLoad(function), "cuFuncLoad");
  }
#endif
}

int attribute(const Function& function, CUfunction_attribute which) {
  int value = 0;
  check(api().cuFuncGetAttribute(&value, which, raw(function)), "cuFuncGetAttribute");
  return value;
}

void set_attribute(const Function& function, CUfunction_attribute which, std::int64_t value) {
  check(api().cuFuncSetAttribute(raw(function), which, static_cast<int>(value)),
        "cuFuncSetAttribute");
}

}  // namespace

unsigned narrow(std::int64_t value, const char* what) {
  if (value < 0 || value > std::numeric_limits<std::int32_t>::max()) {
    throw Error(ExitCode::too_large, fmt::format("a launch with {} {}", what, value), {},
                "at most 2147483647");
  }
  return static_cast<unsigned>(value);
}

void unload_module(void* module) noexcept {
  log_failed_release(api().cuModuleUnload(static_cast<CUmodule>(module)), "cuModuleUnload");
}

FunctionAttributes Function::attributes() const {
  FunctionAttributes attributes;
  attributes.max_threads_per_block = attribute(*this, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  attributes.registers_per_thread = attribute(*this, CU_FUNC_ATTRIBUTE_NUM_REGS);
  attributes.static_smem_bytes = attribute(*this, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
  attributes.local_bytes = attribute(*this, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
  attributes.constant_bytes = attribute(*this, CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES);
  attributes.max_dynamic_smem_bytes =
      attribute(*this, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
  attributes.binary_version = attribute(*this, CU_FUNC_ATTRIBUTE_BINARY_VERSION);
  return attributes;
}

void Function::allow_dynamic_smem(std::int64_t bytes, std::int64_t carveout_percent) const {
  set_attribute(*this, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, narrow(bytes, kSmemText));
  set_attribute(
      *this, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT,
      carveout_percent < 0 ? std::int64_t{CU_SHAREDMEM_CARVEOUT_MAX_SHARED} : carveout_percent);
}

void Function::allow_large_clusters() const {
#if CUDA_VERSION >= 11080
  set_attribute(*this, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1);
#endif
}

int Function::max_blocks_per_sm(int threads_per_block, std::int64_t dynamic_smem_bytes) const {
  int blocks = 0;
  check(api().cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, raw(*this), threads_per_block,
                                                          narrow(dynamic_smem_bytes, kSmemText)),
        "cuOccupancyMaxActiveBlocksPerMultiprocessor");
  return blocks;
}

Module::Module(std::span<const char> cubin) : module_(load_module(cubin)) {}

Function Module::function(const std::string& lowered_name) const {
  CUfunction function = nullptr;
  check(api().cuModuleGetFunction(&function, static_cast<CUmodule>(module_.get()),
                                  lowered_name.c_str()),
        "cuModuleGetFunction");
  load_code(function);
  return Function(function);
}

namespace {

/// Launches a kernel that needs launch attributes. Returns false if an ordinary launch suffices.
bool launch_with_attributes([[maybe_unused]] const Function& function,
                            [[maybe_unused]] const LaunchGeometry& geometry,
                            [[maybe_unused]] const Stream& stream,
                            [[maybe_unused]] std::span<void*> arguments) {
#if CUDA_VERSION >= 11080
  std::vector<CUlaunchAttribute> attributes = launch_attributes(geometry);
  if (attributes.empty()) {
    return false;
  }
  CUlaunchConfig config{};
  config.gridDimX = narrow(geometry.grid[0], "grid.x");
  config.gridDimY = narrow(geometry.grid[1], "grid.y");
  config.gridDimZ = narrow(geometry.grid[2], "grid.z");
  config.blockDimX = narrow(geometry.block[0], "block.x");
  config.blockDimY = narrow(geometry.block[1], "block.y");
  config.blockDimZ = narrow(geometry.block[2], "block.z");
  config.sharedMemBytes = narrow(geometry.dynamic_smem_bytes, kSmemText);
  config.hStream = raw(stream);
  config.attrs = attributes.data();
  config.numAttrs = static_cast<unsigned>(attributes.size());
  check(api().cuLaunchKernelEx(&config, raw(function), arguments.data(), nullptr),
        "cuLaunchKernelEx");
  return true;
#else
  return false;
#endif
}

}  // namespace

void launch(const Function& function, const LaunchGeometry& geometry, const Stream& stream,
            std::span<void*> arguments) {
  if (launch_with_attributes(function, geometry, stream, arguments)) {
    return;
  }
  const auto& grid = geometry.grid;
  const auto& block = geometry.block;
  check(api().cuLaunchKernel(raw(function), narrow(grid[0], "grid.x"), narrow(grid[1], "grid.y"),
                             narrow(grid[2], "grid.z"), narrow(block[0], "block.x"),
                             narrow(block[1], "block.y"), narrow(block[2], "block.z"),
                             narrow(geometry.dynamic_smem_bytes, kSmemText), raw(stream),
                             arguments.data(), nullptr),
        "cuLaunchKernel");
}

}  // namespace fatune::gpu

#include "gpu/module.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "gpu/cuda_api.hpp"
#include "gpu/driver.hpp"

namespace fatune::gpu {
namespace {

constexpr const char* kSmemText = "bytes of dynamic shared memory:";

/// Converts the value to the driver's type. Throws Error(too_large), which names the value by
/// `what`, if it is negative or above 2147483647.
unsigned narrow(std::int64_t value, const char* what) {
  if (value < 0 || value > std::numeric_limits<std::int32_t>::max()) {
    throw Error(ExitCode::too_large, fmt::format("a launch with {} {}", what, value), {},
                "at most 2147483647");
  }
  return static_cast<unsigned>(value);
}

/// Sets the extents of a launch in one of the driver's structs.
template <typename Params>
void set_extents(const LaunchGeometry& geometry, Params& params) {
  params.gridDimX = narrow(geometry.grid[0], "grid.x");
  params.gridDimY = narrow(geometry.grid[1], "grid.y");
  params.gridDimZ = narrow(geometry.grid[2], "grid.z");
  params.blockDimX = narrow(geometry.block[0], "block.x");
  params.blockDimY = narrow(geometry.block[1], "block.y");
  params.blockDimZ = narrow(geometry.block[2], "block.z");
  params.sharedMemBytes = narrow(geometry.dynamic_smem_bytes, kSmemText);
}

/// The launch attributes that the geometry needs, which its extents do not cover. Empty: an
/// ordinary launch suffices. Throws Error(gpu_failure) if there are any and the driver is too old
/// for them.
std::vector<CUlaunchAttribute> launch_attributes(const LaunchGeometry& geometry) {
  std::vector<CUlaunchAttribute> attributes;
  const auto add = [&](CUlaunchAttributeID id) -> CUlaunchAttributeValue& {
    attributes.push_back({});
    attributes.back().id = id;
    return attributes.back().value;
  };
  if (const auto& cluster = geometry.cluster; cluster[0] * cluster[1] * cluster[2] > 1) {
    auto& dimension = add(CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION).clusterDim;
    dimension.x = narrow(cluster[0], "cluster.x");
    dimension.y = narrow(cluster[1], "cluster.y");
    dimension.z = narrow(cluster[2], "cluster.z");
  }
  if (geometry.attributes.cooperative) {
    add(CU_LAUNCH_ATTRIBUTE_COOPERATIVE).cooperative = 1;
  }
  if (geometry.attributes.programmatic_stream_serialization) {
    add(CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION)
        .programmaticStreamSerializationAllowed = 1;
  }
  if (!attributes.empty() &&
      (api().cuLaunchKernelEx == nullptr || api().cuGraphKernelNodeSetAttribute == nullptr)) {
    throw Error(ExitCode::gpu_failure, "the driver does not support launch attributes", {},
                "update the NVIDIA driver");
  }
  return attributes;
}

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

/// Launches a kernel that needs launch attributes. Returns false if an ordinary launch suffices.
bool launch_with_attributes(const Function& function, const LaunchGeometry& geometry,
                            const Stream& stream, std::span<void*> arguments) {
  std::vector<CUlaunchAttribute> attributes = launch_attributes(geometry);
  if (attributes.empty()) {
    return false;
  }
  CUlaunchConfig config{};
  set_extents(geometry, config);
  config.hStream = raw(stream);
  config.attrs = attributes.data();
  config.numAttrs = static_cast<unsigned>(attributes.size());
  check(api().cuLaunchKernelEx(&config, raw(function), arguments.data(), nullptr),
        "cuLaunchKernelEx");
  return true;
}

CUDA_KERNEL_NODE_PARAMS node_params(const Function& function, const LaunchGeometry& geometry,
                                    std::span<void*> arguments) {
  CUDA_KERNEL_NODE_PARAMS params{};
  params.func = raw(function);
  set_extents(geometry, params);
  params.kernelParams = arguments.data();
  return params;
}

void* create_graph() {
  CUgraph graph = nullptr;
  check(api().cuGraphCreate(&graph, 0), "cuGraphCreate");
  return graph;
}

constexpr std::size_t kMostDimensions = 5;

static_assert(sizeof(CUtensorMap) == kTensorMapArgumentBytes);
static_assert(CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ == kTensorMapElementTypes.size() - 1);
static_assert(CU_TENSOR_MAP_SWIZZLE_128B == 3 && CU_TENSOR_MAP_INTERLEAVE_32B == 2 &&
              CU_TENSOR_MAP_L2_PROMOTION_L2_256B == 3 &&
              CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA == 1);

template <typename Enum>
Enum value_of(std::span<const std::string_view> names, const std::string& name) {
  return static_cast<Enum>(index_of_name(names, name));
}

template <typename Number>
std::array<Number, kMostDimensions> numbers(const std::vector<std::int64_t>& of) {
  std::array<Number, kMostDimensions> all{};
  for (std::size_t i = 0; i < std::min(of.size(), all.size()); ++i) {
    all.at(i) = static_cast<Number>(of[i]);
  }
  return all;
}

CUresult encode(const TensorMapPiece& map, DevicePtr address, CUtensorMap& to) {
  const auto sizes = numbers<cuuint64_t>(map.sizes);
  const auto strides = numbers<cuuint64_t>(map.strides_bytes);
  const auto box = numbers<cuuint32_t>(map.box);
  const auto element_strides = numbers<cuuint32_t>(map.element_strides);
  return api().cuTensorMapEncodeTiled(
      &to, value_of<CUtensorMapDataType>(kTensorMapElementTypes, map.element_type),
      static_cast<cuuint32_t>(map.sizes.size()),
      reinterpret_cast<void*>(address),  // NOLINT(performance-no-int-to-ptr)
      sizes.data(), strides.data(), box.data(), element_strides.data(),
      value_of<CUtensorMapInterleave>(kTensorMapInterleaves, map.interleave),
      value_of<CUtensorMapSwizzle>(kTensorMapSwizzles, map.swizzle),
      value_of<CUtensorMapL2promotion>(kTensorMapL2Promotions, map.l2_promotion),
      value_of<CUtensorMapFloatOOBfill>(kTensorMapOobFills, map.oob_fill));
}

}  // namespace

void unload_module(void* module) noexcept {
  log_failed_release(api().cuModuleUnload(static_cast<CUmodule>(module)), "cuModuleUnload");
}

FunctionAttributes Function::attributes() const {
  return {attribute(*this, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK),
          attribute(*this, CU_FUNC_ATTRIBUTE_NUM_REGS),
          attribute(*this, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)};
}

void Function::allow_dynamic_smem(std::int64_t bytes, std::int64_t carveout_percent) const {
  set_attribute(*this, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, narrow(bytes, kSmemText));
  set_attribute(
      *this, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT,
      carveout_percent < 0 ? std::int64_t{CU_SHAREDMEM_CARVEOUT_MAX_SHARED} : carveout_percent);
}

void Function::allow_large_clusters() const {
  set_attribute(*this, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1);
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

void destroy_graph(void* graph) noexcept {
  log_failed_release(api().cuGraphDestroy(static_cast<CUgraph>(graph)), "cuGraphDestroy");
}

void destroy_executable_graph(void* graph) noexcept {
  log_failed_release(api().cuGraphExecDestroy(static_cast<CUgraphExec>(graph)),
                     "cuGraphExecDestroy");
}

bool has_graphs() {
  const DriverApi& driver = api();
  return driver.cuGraphCreate != nullptr && driver.cuGraphAddKernelNode != nullptr &&
         driver.cuGraphInstantiateWithFlags != nullptr && driver.cuGraphLaunch != nullptr &&
         driver.cuGraphExecDestroy != nullptr && driver.cuGraphDestroy != nullptr;
}

KernelGraph::KernelGraph(const Function& function, const LaunchGeometry& geometry,
                         std::span<void*> arguments)
    : graph_(create_graph()) {
  const CUDA_KERNEL_NODE_PARAMS params = node_params(function, geometry, arguments);
  auto* const graph = static_cast<CUgraph>(graph_.get());
  CUgraphNode node = nullptr;
  check(api().cuGraphAddKernelNode(&node, graph, nullptr, 0, &params), "cuGraphAddKernelNode");
  for (const CUlaunchAttribute& attribute : launch_attributes(geometry)) {
    check(api().cuGraphKernelNodeSetAttribute(node, attribute.id, &attribute.value),
          "cuGraphKernelNodeSetAttribute");
  }
  CUgraphExec executable = nullptr;
  check(api().cuGraphInstantiateWithFlags(&executable, graph, 0), "cuGraphInstantiateWithFlags");
  executable_ = Handle<void*, destroy_executable_graph>(executable);
}

void KernelGraph::launch(const Stream& stream) const {
  check(api().cuGraphLaunch(static_cast<CUgraphExec>(executable_.get()), raw(stream)),
        "cuGraphLaunch");
}

std::string describe(const TensorMapPiece& map, DevicePtr address) {
  return fmt::format(
      "{} of {} at {:#x}, {}: sizes {}, strides {} bytes, box {}, element strides {}, swizzle {}, "
      "interleave {}, l2_promotion {}, oob_fill {}",
      kTensorMapCall, map.tensor, address, map.element_type, fmt::join(map.sizes, " x "),
      fmt::join(map.strides_bytes, ", "), fmt::join(map.box, " x "),
      fmt::join(map.element_strides, ", "), map.swizzle, map.interleave, map.l2_promotion,
      map.oob_fill);
}

TensorMapBytes encode_tensor_map(const TensorMapPiece& map, DevicePtr address) {
  if (api().cuTensorMapEncodeTiled == nullptr) {
    throw Error(ExitCode::gpu_failure, "the driver does not support tensor maps", {},
                "update the NVIDIA driver");
  }
  CUtensorMap encoded{};
  const CUresult result = encode(map, address, encoded);
  if (result != CUDA_SUCCESS) {
    check(result, describe(map, address).c_str());
  }
  TensorMapBytes bytes{};
  std::memcpy(bytes.data(), &encoded, sizeof encoded);
  return bytes;
}

}  // namespace fatune::gpu

#include "gpu/graph.hpp"

#include "gpu/cuda_api.hpp"
#include "gpu/driver.hpp"
#include "gpu/launch_attributes.hpp"
#include "gpu/narrow.hpp"
#include "gpu/raw_handles.hpp"

namespace fatune::gpu {
namespace {

CUDA_KERNEL_NODE_PARAMS node_params(const Function& function, const LaunchGeometry& geometry,
                                    std::span<void*> arguments) {
  CUDA_KERNEL_NODE_PARAMS params{};
  params.func = raw(function);
  params.gridDimX = narrow(geometry.grid[0], "grid.x");
  params.gridDimY = narrow(geometry.grid[1], "grid.y");
  params.gridDimZ = narrow(geometry.grid[2], "grid.z");
  params.blockDimX = narrow(geometry.block[0], "block.x");
  params.blockDimY = narrow(geometry.block[1], "block.y");
  params.blockDimZ = narrow(geometry.block[2], "block.z");
  params.sharedMemBytes = narrow(geometry.dynamic_smem_bytes, "bytes of dynamic shared memory:");
  params.kernelParams = arguments.data();
  return params;
}

void add_attributes([[maybe_unused]] CUgraphNode node,
                    [[maybe_unused]] const LaunchGeometry& geometry) {
#if CUDA_VERSION >= 11080
  for (const CUlaunchAttribute& attribute : launch_attributes(geometry)) {
    check(api().cuGraphKernelNodeSetAttribute(node, attribute.id, &attribute.value),
          "cuGraphKernelNodeSetAttribute");
  }
#endif
}

void* create_graph() {
  CUgraph graph = nullptr;
  check(api().cuGraphCreate(&graph, 0), "cuGraphCreate");
  return graph;
}

}  // namespace

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
  add_attributes(node, geometry);
  CUgraphExec executable = nullptr;
  check(api().cuGraphInstantiateWithFlags(&executable, graph, 0), "cuGraphInstantiateWithFlags");
  executable_ = Handle<void*, destroy_executable_graph>(executable);
}

void KernelGraph::launch(const Stream& stream) const {
  check(api().cuGraphLaunch(static_cast<CUgraphExec>(executable_.get()), raw(stream)),
        "cuGraphLaunch");
}

}  // namespace fatune::gpu
